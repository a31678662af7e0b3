/** The variables that `quorumscan run` and `backup` read from an operator's file, and no process. */
export const RUN_VARIABLES = [
  'QS_NAME',
  'QS_DATA_DIR',
  'QS_MEMBERS',
  'QS_SYNCHRONIZER_PORT',
  'QS_ALLOW_READABLE_KEYS',
  'QS_REDIS_MEMORY_MIB',
  'QS_CONSOLE_TOKEN_FILE',
  'QS_BACKUPS',
  'QS_BACKUP_RECIPIENT',
] as const
