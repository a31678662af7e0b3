/**
 * Half of a surrogate pair without the other: such a text has no UTF-8. On code units alone, as interpretation
 * uses it (Rule 1); without lookbehind, which older browsers do not support.
 */
export const LONE_SURROGATE =
  /[\ud800-\udbff](?![\udc00-\udfff])|(?:[^\ud800-\udbff]|^)[\udc00-\udfff]/
