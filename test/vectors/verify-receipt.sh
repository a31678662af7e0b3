#!/usr/bin/env bash
# A second verifier of receipts, written from packages/consensus/RECEIPTS.md alone, for receipts in
# their RFC 8785 form: verify-receipt.sh GENESIS_FILE RECEIPT_FILE. Exit status 0 if valid, else 1.
set -euo pipefail

genesis_file=$1
receipt=$(cat "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

invalid() { echo "invalid, because $1"; exit 1; }
bytes() { printf '%b' "$(sed 's/../\\x&/g' <<<"$1")"; }      # hex to bytes
u64() { bytes "$(printf '%016x' "$1")"; }
sha256() { openssl dgst -sha256 -binary; }
hex() { od -An -v -tx1 | tr -d ' \n'; }

# Exactly these members, in the order of RFC 8785.
shape='^\{"answer":"([0-9a-f]*)","genesis_hash":"([0-9a-f]{64})","history_hash":"([0-9a-f]{64})",'
shape+='"offset":(0|[1-9][0-9]{0,15}),"record_time":(0|[1-9][0-9]{0,15}),'
shape+='"request":(\{"operation":"[A-Za-z]+","parameters":\{.*\}\}),'
shape+='"signatures":\[(.*)\],"tag":"quorumscan/answer/1"\}$'
[[ $receipt =~ $shape ]] || invalid 'it is malformed'
answer=${BASH_REMATCH[1]} genesis_hash=${BASH_REMATCH[2]} history_hash=${BASH_REMATCH[3]}
offset=${BASH_REMATCH[4]} record_time=${BASH_REMATCH[5]} request=${BASH_REMATCH[6]}
signatures=${BASH_REMATCH[7]}

[[ $(sha256 <"$genesis_file" | hex) == "$genesis_hash" ]] || invalid 'it is from another network'
{
  printf 'quorumscan/answer/1\0'
  bytes "$genesis_hash"; u64 "$offset"; u64 "$record_time"; bytes "$history_hash"
  printf '%s' "$request" | sha256
  bytes "$answer" | sha256
} >"$work/statement"

# Names and keys of the nodes, in the order of the genesis: name behind its keys, in RFC 8785 form.
nodes=$(grep -oE '"name":"[a-z0-9-]+","operatorKey":"[0-9a-f]{64}","scanKey":"[0-9a-f]{64}"' "$genesis_file")
n=$(wc -l <<<"$nodes")
needed=$(((n - 1) / 3 + 1))
seen=' ' count=0
while [[ $signatures =~ ^,?\[\"([a-z0-9-]+)\",\"([0-9a-f]{128})\"\](.*)$ ]]; do
  name=${BASH_REMATCH[1]} signature=${BASH_REMATCH[2]} signatures=${BASH_REMATCH[3]}
  [[ $seen != *" $name "* ]] || invalid "$name signed twice"
  seen+="$name "
  key=$(grep -F "\"name\":\"$name\"," <<<"$nodes" | sed 's/.*"scanKey":"\([0-9a-f]*\)"/\1/') ||
    invalid "$name is no node"
  bytes "302a300506032b6570032100$key" >"$work/key.der"
  bytes "$signature" >"$work/signature"
  openssl pkeyutl -verify -rawin -pubin -keyform DER -inkey "$work/key.der" \
    -in "$work/statement" -sigfile "$work/signature" >/dev/null 2>&1 ||
    invalid "the signature of $name does not fit"
  count=$((count + 1))
done
[[ -z $signatures ]] || invalid 'it is malformed'
((count >= needed)) || invalid "$count nodes signed, $needed are needed"
echo "valid: at offset $offset, signed by$seen: $(bytes "$answer")"
