#!/usr/bin/env python3
"""A verifier of certified reads, written from docs/certified-reads.md alone. Python's own library is all it needs.

    verify_certified.py certified.json     judges the vectors, as a JSON list
    verify_certified.py GENESIS DOCUMENT REQUEST SIGNERS     says what one document proves; 1: nothing
"""
import base64
import hashlib
import json
import re
import sys


class Refused(Exception):
    pass


def check(condition, why):
    if not condition:
        raise Refused(why)


def sha256(data):
    return hashlib.sha256(data).digest()


def canonical(value):
    """RFC 8785, for values without fractions whose member names are ASCII."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


# Ed25519, RFC 8032 §5.1.7 and §6.

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def recover_x(y, sign):
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P != 0:
        x = x * pow(2, (P - 1) // 4, P) % P
    if y >= P or (x * x - square) % P != 0 or (x == 0 and sign):
        return None
    return P - x if x & 1 != sign else x


def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def multiply(scalar, point):
    result = (0, 1, 1, 0)
    while scalar > 0:
        if scalar & 1:
            result = add(result, point)
        point, scalar = add(point, point), scalar >> 1
    return result


def decode_point(data):
    number = int.from_bytes(data, "little")
    y, sign = number & (2**255 - 1), number >> 255
    x = recover_x(y, sign)
    return None if x is None else (x, y, 1, x * y % P)


BASE_Y = 4 * pow(5, -1, P) % P
BASE = (recover_x(BASE_Y, 0), BASE_Y, 1, recover_x(BASE_Y, 0) * BASE_Y % P)


def is_signature(public_key, message, signature):
    key, r = decode_point(public_key), decode_point(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if key is None or r is None or s >= ORDER:
        return False
    digest = hashlib.sha512(signature[:32] + public_key + message).digest()
    left = multiply(s, BASE)
    right = add(r, multiply(int.from_bytes(digest, "little") % ORDER, key))
    return (left[0] * right[2] - right[0] * left[2]) % P == 0 and (
        left[1] * right[2] - right[1] * left[2]
    ) % P == 0


# Certificate.


def is_integer(value):
    return type(value) is int and 0 <= value < 2**53


def is_hex(value, digits):
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{%d}" % digits, value) is not None


def has_members(value, names):
    return isinstance(value, dict) and sorted(value) == sorted(names)


def verify_certificate(certificate, genesis, signers_needed):
    hashes = ["genesis_hash", "history_hash", "state_root"]
    check(
        has_members(certificate, hashes + ["offset", "record_time", "signatures"]),
        "members of the certificate",
    )
    check(all(is_hex(certificate[name], 64) for name in hashes), "hashes of the certificate")
    check(is_integer(certificate["offset"]), "offset")
    check(is_integer(certificate["record_time"]), "record time")
    signatures = certificate["signatures"]
    check(
        isinstance(signatures, list)
        and all(
            isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) and is_hex(pair[1], 128)
            for pair in signatures
        ),
        "form of the signatures",
    )
    genesis_hash = sha256(canonical(genesis).encode())
    check(certificate["genesis_hash"] == genesis_hash.hex(), "another network")
    statement = (
        b"quorumscan/state/1\0"
        + genesis_hash
        + certificate["offset"].to_bytes(8, "big")
        + certificate["record_time"].to_bytes(8, "big")
        + bytes.fromhex(certificate["history_hash"])
        + bytes.fromhex(certificate["state_root"])
    )
    names = [node["name"] for node in genesis["nodes"]]
    places = [names.index(name) if name in names else -1 for name, _ in signatures]
    check(-1 not in places, "a signer is no member")
    check(all(a < b for a, b in zip(places, places[1:])), "order of the signers")
    for place, (name, signature) in zip(places, signatures):
        key = bytes.fromhex(genesis["nodes"][place]["scanKey"])
        check(is_signature(key, statement, bytes.fromhex(signature)), "signature of " + name)
    faulty = (len(names) - 1) // 3
    check(len(signatures) >= max(signers_needed, faulty + 1), "too few signers")
    return [name for name, _ in signatures]


# Proof.


def bit_of(key, index):
    return key[index // 8] >> (7 - index % 8) & 1 if index // 8 < len(key) else 0


def decode_hash(text):
    try:
        data = base64.b64decode(text, validate=True)
    except (ValueError, TypeError):
        raise Refused("a hash that is no base64")
    check(len(data) == 32, "length of a hash")
    check(base64.b64encode(data).decode() == text, "another spelling of a hash")
    return data


class Cut:
    def __init__(self, text):
        self.item, self.hash, self.key = text, decode_hash(text), None


class ShownLeaf:
    def __init__(self, item):
        self.item = item
        shown = "value" if "value" in item else "value_hash"
        check(has_members(item, ["expires_at", "key", shown]), "members of a leaf")
        components, self.expires_at = item["key"], item["expires_at"]
        check(self.expires_at is None or is_integer(self.expires_at), "expiry of a leaf")
        check(isinstance(components, list), "key of a leaf")
        check(
            all(isinstance(one, str) and "\0" not in one for one in components),
            "components of a key",
        )
        self.key = b"".join(encode(one) + b"\0" for one in components)
        check(len(self.key) <= 400, "length of a key")
        self.value = item.get("value")
        check(self.value is None or isinstance(self.value, str), "value of a leaf")
        value_hash = decode_hash(item["value_hash"]) if self.value is None else sha256(encode(self.value))
        expiry = 2**64 - 1 if self.expires_at is None else self.expires_at
        self.hash = sha256(
            b"\0" + len(self.key).to_bytes(2, "big") + self.key + expiry.to_bytes(8, "big") + value_hash
        )


class Inner:
    def __init__(self, bit, left, right):
        self.bit, self.left, self.right = bit, left, right
        self.key = left.key if left.key is not None else right.key
        self.hash = sha256(b"\1" + bit.to_bytes(2, "big") + left.hash + right.hash)


def encode(text):
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise Refused("a text that is no UTF-8")


def read_tree(items, above=-1):
    check(len(items) > 0, "the list ends too early")
    item = items.pop(0)
    if isinstance(item, str):
        return Cut(item)
    if isinstance(item, dict):
        return ShownLeaf(item)
    check(type(item) is int and above < item < 3200, "a bit index")
    left = read_tree(items, item)
    return Inner(item, left, read_tree(items, item))


def is_outside(prefix_key, bit, side, start, end):
    """Whether all keys with the first `bit` bits of a key and then `side` lie before start, or from end on."""
    prefix = [bit_of(prefix_key, index) for index in range(bit)] + [side]
    return compare(prefix, start) == "before" or compare(prefix, end) == "from"


def compare(prefix, bound):
    bits = [bit_of(bound, index) for index in range(8 * len(bound))]
    for own, other in zip(prefix, bits):
        if own != other:
            return "before" if own < other else "from"
    return "from" if len(prefix) >= len(bits) else "both"


class Run:
    """Goes through what was shown of one range, by the rules of the page."""

    def __init__(self, key_range, record_time):
        self.start, self.end, self.limit = key_range
        self.record_time, self.values = record_time, []

    def visit(self, node):
        check(not isinstance(node, Cut), "something is left out")
        if isinstance(node, ShownLeaf):
            is_asked = self.start <= node.key < self.end
            is_visible = node.expires_at is None or node.expires_at > self.record_time
            check((node.value is not None) == (is_asked and is_visible), "value of a leaf, or its hash")
            if node.value is not None:
                self.values.append((node.item["key"], node.value))
                if len(self.values) == self.limit:
                    self.end = node.key
            return
        check(node.key is not None, "a branch without a leaf")
        is_left_outside = is_outside(node.key, node.bit, 0, self.start, self.end)
        if is_left_outside and is_outside(node.key, node.bit, 1, self.start, self.end):
            self.show_gap(node)
            return
        self.visit_or_cut(node.left, is_left_outside)
        self.visit_or_cut(node.right, is_outside(node.key, node.bit, 1, self.start, self.end))

    def visit_or_cut(self, node, is_cut):
        if is_cut:
            check(isinstance(node, Cut), "something needless is shown")
        else:
            self.visit(node)

    def show_gap(self, node):
        while isinstance(node, Inner):
            down, other = (node.left, node.right) if bit_of(self.start, node.bit) == 0 else (node.right, node.left)
            check(isinstance(other, Cut), "something needless is shown")
            node = down
        check(isinstance(node, ShownLeaf) and node.value is None, "the leaf that proves a gap")


def verify_proof(proof, certificate, ranges):
    check(isinstance(proof, list), "the proof is no list")
    root, items, runs = bytes.fromhex(certificate["state_root"]), list(proof), []
    for key_range in ranges:
        run = Run(key_range, certificate["record_time"])
        if root != bytes(32):
            tree = read_tree(items)
            check(tree.hash == root, "another tree")
            run.visit(tree)
        runs.append(run.values)
    check(len(items) == 0, "the list goes on")
    return runs


# Requests.


def can_be_in_key(text):
    try:
        return b"\0" not in text.encode("utf-8")
    except UnicodeEncodeError:
        return False


def synthetic_name(party, genesis):
    if party == genesis["dso"]:
        return "dso.ns"
    for node in genesis["nodes"]:
        if party == node["name"] + "::1220" + sha256(bytes.fromhex(node["operatorKey"])).hex():
            return node["name"] + ".sv.ns"
    return None


def run_of(*components, limit=1):
    if not all(can_be_in_key(one) for one in components):
        return []
    beginning = b"\0".join(one.encode() for one in components)
    return [(beginning + b"\0", beginning + b"\1", limit)]


def entry_of(key, value, party=None):
    try:
        entry = json.loads(value)
    except ValueError:
        raise Refused("an entry that is no JSON")
    name, user = (key[2], key[1]) if key[0] == "p" else (key[1], party)
    check(isinstance(entry, dict) and entry.get("name") == name, "name of an entry")
    check(user is None or entry.get("user") == user, "user of an entry")
    check(party is None or entry.get("user") == party, "party of an entry")
    return entry


def page_token(genesis_hash, listed, offset, after):
    content = offset.to_bytes(8, "big") + after.encode()
    checksum = sha256(b"quorumscan/page/1\0" + genesis_hash + sha256(listed) + content)[:16]
    return base64.urlsafe_b64encode(content + checksum).decode().rstrip("=")


def position_of(token, genesis_hash, listed, prefix):
    if token is None:
        return None
    data = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    offset, after = int.from_bytes(data[:8], "big"), data[8:-16].decode()
    check(token == page_token(genesis_hash, listed, offset, after), "the page token")
    check(after.startswith(prefix), "the page token is of another list")
    return offset, after


def question_of(request, genesis):
    """The ranges of a request, the offset it is bound to, and what values of them amount to."""
    operation, asked = request["operation"], request["parameters"]
    if operation == "getEntryByName":
        return run_of("n", asked["name"]), None, lambda runs, _: first(runs, None)
    if operation == "getEntryByParty":
        party = asked["party"]
        name = synthetic_name(party, genesis)
        ranges = run_of("p", party) if name is None else run_of("n", name)
        return ranges, None, lambda runs, _: first(runs, party)
    if operation == "lookupEntries":
        questions = [question_of(lookup_request(one), genesis) for one in asked["lookups"]]

        def answer(runs, offset):
            answers = []
            for ranges, _, answer_one in questions:
                answers.append(answer_one(runs[: len(ranges)], offset))
                runs = runs[len(ranges) :]
            return answers

        return [one for ranges, _, _ in questions for one in ranges], None, answer
    if operation in ("listEntries", "listEntriesByParty"):
        return list_question(operation, asked, genesis)
    key = {"getDso": "dso", "getAnsRules": "ans-rules", "listScans": "scans"}[operation]
    return run_of("c", key), None, lambda runs, _: json.loads(runs[0][0][1])


def lookup_request(lookup):
    operation = "getEntryByName" if "name" in lookup else "getEntryByParty"
    return {"operation": operation, "parameters": lookup}


def first(runs, party):
    return entry_of(*runs[0][0], party) if runs and runs[0] else None


def list_question(operation, asked, genesis):
    size, party = asked["page_size"], asked.get("party")
    prefix = asked.get("name_prefix", "")
    genesis_hash = sha256(canonical(genesis).encode())
    text = "prefix\0" + prefix if party is None else "party\0" + party
    # Of what has no UTF-8 there is no page token, either.
    listed = text.encode("utf-8", "replace")
    position = position_of(asked["page_token"], genesis_hash, listed, prefix)
    if party is None:
        beginning = b"n\0" + prefix.encode("utf-8", "replace")
        start = beginning if position is None else b"n\0" + position[1].encode() + b"\1"
        end = beginning[:-1] + bytes([beginning[-1] + 1])
        ranges = [(start, end, size + 1)] if can_be_in_key(prefix) else []
    else:
        ranges = run_of("p", party, limit=size + 1)
        if ranges and position is not None:
            ranges = [(b"p\0" + party.encode() + b"\0" + position[1].encode() + b"\1", ranges[0][1], size + 1)]
        name = synthetic_name(party, genesis)
        if name is not None and (position is None or name.encode() > position[1].encode()):
            ranges = ranges + run_of("n", name)

    def answer(runs, offset):
        found = [entry_of(*shown, party) for run in runs for shown in run]
        found.sort(key=lambda entry: entry["name"].encode())
        entries = found[:size]
        is_last = len(found) <= size
        token = None if is_last else page_token(genesis_hash, listed, offset, entries[-1]["name"])
        return {"entries": entries, "next_page_token": token}

    return ranges, None if position is None else position[0], answer


# Activities.


def tree_hash(leaf, node, start, count):
    """RFC 9162, 2.1: of the leaves from start on; `node` gives what is known of a whole part, or None."""
    known = node(start, count)
    if known is not None:
        return known
    if count == 1:
        return leaf(start)
    left = 1
    while 2 * left < count:
        left *= 2
    return sha256(b"\1" + tree_hash(leaf, node, start, left) + tree_hash(leaf, node, start + left, count - left))


def leaf_of(row, is_inside):
    shown = "row" if is_inside else "row_hash"
    check(has_members(row, ["event_id", "record_time", shown]), "members of a row")
    check(isinstance(row["event_id"], str) and re.fullmatch("[0-9]{16}:[0-9]{4}", row["event_id"]), "an event id")
    check(is_integer(row["record_time"]) and isinstance(row[shown], str), "a row")
    row_hash = sha256(encode(row["row"])) if is_inside else decode_hash(row["row_hash"])
    return sha256(b"\0" + row["event_id"].encode() + row["record_time"].to_bytes(8, "big") + row_hash)


def verify_activities(proof, certificate, asked, genesis):
    check(has_members(proof, ["run", "state"]), "members of the proof")
    [values] = verify_proof(proof["state"], certificate, run_of("a"))
    check(len(values) == 1, "the state has no activities")
    tree, run = json.loads(values[0][1]), proof["run"]
    size = tree["size"]
    check(has_members(run, ["first", "hashes", "rows"]), "members of the run")
    first, rows = run["first"], run["rows"]
    check(is_integer(first) and isinstance(rows, list) and isinstance(run["hashes"], list), "form of the run")
    check(all(isinstance(row, dict) for row in rows), "form of the rows")
    inside = [row for row in rows if "row" in row]
    end = first + len(inside)
    check(end <= size, "rows behind the end of the tree")
    # The row on either side has to be there, unless the tree ends: without them a run could claim any place.
    before_count, behind_count = int(first > 0), int(end < size)
    check(len(rows) == before_count + len(inside) + behind_count, "number of rows of the run")
    check(rows[before_count : before_count + len(inside)] == inside, "rows of the run")
    before, behind = rows[:before_count], rows[before_count + len(inside) :]
    leaves = [leaf_of(row, "row" in row) for row in rows]
    start, hashes = first - len(before), [decode_hash(one) for one in run["hashes"]]

    def beside(at, count):
        if at < start + len(leaves) and at + count > start:
            return None
        check(len(hashes) > 0, "a hash is missing")
        return hashes.pop(0)

    root = sha256(b"") if size == 0 else tree_hash(lambda index: leaves[index - start], beside, 0, size)
    check(root == bytes.fromhex(tree["root"]) and len(hashes) == 0, "another tree of activities")

    after, order = asked["begin_after_id"], asked["sort_order"]
    gone_until = certificate["record_time"] - genesis["activityRetentionMicros"]

    def is_visible(row):
        return row["record_time"] > gone_until

    def is_asked(row):
        return after is None or (row["event_id"] > after if order == "asc" else row["event_id"] < after)

    check(len(inside) <= asked["page_size"], "more rows than were asked for")
    check(all(is_visible(row) and is_asked(row) for row in inside), "rows that were not asked for")
    if order == "asc":
        check(all(not is_visible(row) or not is_asked(row) for row in before), "rows are left out")
        check(len(inside) > 0 or not behind, "there are more rows")
    else:
        check(not any(is_asked(row) for row in behind), "rows are left out")
        check(len(inside) > 0 or not any(is_visible(row) for row in before), "there are more rows")
        check(len(inside) > 0 or all(is_visible(row) for row in behind), "another place of no rows")
    values = []
    for row in inside:
        try:
            value = json.loads(row["row"])
        except ValueError:
            raise Refused("a row that is no JSON")
        check(isinstance(value, dict) and value.get("event_id") == row["event_id"], "event id of a row")
        values.append(value)
    return {"activities": values if order == "asc" else values[::-1]}


# Document.


def verify(text, genesis, request, signers):
    try:
        document = json.loads(text)
        # What is encoded again is the same only if it was in the one form that there is.
        check(canonical(document) == text, "another spelling")
    except (ValueError, RecursionError):
        raise Refused("no JSON")
    check(has_members(document, ["certificate", "proof"]), "members of the document")
    certificate = document["certificate"]
    signed_by = verify_certificate(certificate, genesis, signers)
    if request["operation"] == "listActivities":
        return {
            "answer": verify_activities(document["proof"], certificate, request["parameters"], genesis),
            "offset": certificate["offset"],
            "signed_by": signed_by,
        }
    ranges, offset, answer = question_of(request, genesis)
    check(offset in (None, certificate["offset"]), "a walk goes on at another offset")
    runs = verify_proof(document["proof"], certificate, ranges)
    return {
        "answer": answer(runs, certificate["offset"]),
        "offset": certificate["offset"],
        "signed_by": signed_by,
    }


def judge(*args):
    try:
        return verify(*args)
    except Refused as refused:
        return {"refused": str(refused)}


def main(arguments):
    sys.setrecursionlimit(10_000)
    if len(arguments) == 1:
        with open(arguments[0], encoding="utf-8") as file:
            vectors = json.load(file)
        genesis = json.loads(vectors["genesis"])
        judged = [
            judge(one["document"], genesis, one["request"], one["signers"]) for one in vectors["vectors"]
        ]
        print(json.dumps(judged))
        return 0
    genesis_file, document_file, request, signers = arguments
    with open(genesis_file, encoding="utf-8") as file:
        genesis = json.load(file)
    with open(document_file, encoding="utf-8", newline="") as file:
        judged = judge(file.read(), genesis, json.loads(request), int(signers))
    print(json.dumps(judged))
    return 1 if "refused" in judged else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
