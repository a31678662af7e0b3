#!/usr/bin/env python3
"""A verifier of certified reads, written only from docs/certified-reads.md. It needs only Python's standard library.

    verify_certified.py certified.json     judges the vectors, as a JSON list
    verify_certified.py GENESIS DOCUMENT REQUEST SIGNERS     prints what one document proves; exits with 1: nothing

A refusal is reported with the name of the broken rule in docs/certified-reads.md.
"""
import base64
import hashlib
import json
import re
import sys


class Refused(Exception):
    """Its text is the name of the rule."""


def check(condition, rule):
    if not condition:
        raise Refused(rule)


def sha256(data):
    return hashlib.sha256(data).digest()


def parse_json(text, rule):
    """Parses strict RFC 8259, although Python also accepts NaN and Infinity."""

    def refuse(_):
        raise ValueError

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):
        raise Refused(rule)


def canonical(value):
    """RFC 8785, for values without fractions whose member names are ASCII."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


# Ed25519, RFC 8032 §5.1.7 and §6, without the cofactor.

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def recover_x(y, sign):
    """Recovers x of a valid point. Only keys of a genesis document are decoded."""
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P != 0:
        x = x * pow(2, (P - 1) // 4, P) % P
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
    return (x, y, 1, x * y % P)


def encode_point(point):
    inverse = pow(point[2], -1, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


BASE_Y = 4 * pow(5, -1, P) % P
BASE = (recover_x(BASE_Y, 0), BASE_Y, 1, recover_x(BASE_Y, 0) * BASE_Y % P)


def is_signature(public_key, message, signature):
    x, y, z, t = decode_point(public_key)
    s = int.from_bytes(signature[32:], "little")
    digest = hashlib.sha512(signature[:32] + public_key + message).digest()
    k = int.from_bytes(digest, "little") % ORDER
    # S·B - k·A must have the bytes of R. So R is never decoded, and has only one encoding.
    r = add(multiply(s, BASE), multiply(k, (P - x, y, z, P - t)))
    return s < ORDER and encode_point(r) == signature[:32]


# Certificate.


def is_integer(value):
    return type(value) is int and 0 <= value < 2**53


def is_hex(value, digits):
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{%d}" % digits, value) is not None


def has_members(value, names):
    return isinstance(value, dict) and sorted(value) == sorted(names)


def verify_certificate(certificate, genesis, signers_needed):
    hashes = ["genesis_hash", "history_hash", "state_root"]
    form = "certificate.form"
    check(has_members(certificate, hashes + ["offset", "record_time", "signatures"]), form)
    check(all(is_hex(certificate[name], 64) for name in hashes), form)
    check(is_integer(certificate["offset"]), form)
    check(is_integer(certificate["record_time"]), form)
    signatures = certificate["signatures"]
    check(isinstance(signatures, list), form)
    check(all(isinstance(pair, list) and len(pair) == 2 for pair in signatures), form)
    check(all(isinstance(name, str) for name, _ in signatures), form)
    check(all(is_hex(signature, 128) for _, signature in signatures), form)
    genesis_hash = sha256(canonical(genesis).encode())
    check(certificate["genesis_hash"] == genesis_hash.hex(), "certificate.network")
    statement = (
        b"quorumscan/state/1\0"
        + genesis_hash
        + certificate["offset"].to_bytes(8, "big")
        + certificate["record_time"].to_bytes(8, "big")
        + bytes.fromhex(certificate["history_hash"])
        + bytes.fromhex(certificate["state_root"])
    )
    names = [node["name"] for node in genesis["nodes"]]
    check(all(name in names for name, _ in signatures), "certificate.signer")
    places = [names.index(name) for name, _ in signatures]
    check(all(a < b for a, b in zip(places, places[1:])), "certificate.signer")
    for place, (_, signature) in zip(places, signatures):
        key = bytes.fromhex(genesis["nodes"][place]["scanKey"])
        check(is_signature(key, statement, bytes.fromhex(signature)), "certificate.signature")
    check(len(signatures) >= signers_needed, "certificate.signers")
    return [name for name, _ in signatures]


# Proof.


def bit_of(key, index):
    return key[index // 8] >> (7 - index % 8) & 1 if index // 8 < len(key) else 0


def decode_hash(text):
    try:
        data = base64.b64decode(text)
    except (ValueError, TypeError):
        raise Refused("proof.hash")
    check(len(data) == 32, "proof.hash")
    check(base64.b64encode(data).decode() == text, "proof.hash")
    return data


class Cut:
    def __init__(self, text):
        self.item, self.hash, self.key = text, decode_hash(text), None


class ShownLeaf:
    def __init__(self, item):
        self.item = item
        shown = "value" if "value" in item else "value_hash"
        check(has_members(item, ["expires_at", "key", shown]), "proof.leaf")
        components, self.expires_at = item["key"], item["expires_at"]
        check(self.expires_at is None or is_integer(self.expires_at), "proof.expiry")
        check(isinstance(components, list), "proof.key")
        check(all(isinstance(one, str) for one in components), "proof.key")
        check(all("\0" not in one for one in components), "proof.key")
        self.key = b"".join(one.encode() + b"\0" for one in components)
        check(len(self.key) <= 400, "proof.key")
        self.value = item[shown] if shown == "value" else None
        check(shown == "value_hash" or isinstance(self.value, str), "proof.leaf")
        value_hash = decode_hash(item["value_hash"]) if self.value is None else sha256(self.value.encode())
        expiry = 2**64 - 1 if self.expires_at is None else self.expires_at
        self.hash = sha256(
            b"\0" + len(self.key).to_bytes(2, "big") + self.key + expiry.to_bytes(8, "big") + value_hash
        )


class Inner:
    def __init__(self, bit, left, right):
        self.bit, self.left, self.right = bit, left, right
        self.key = left.key if left.key is not None else right.key
        self.hash = sha256(b"\1" + bit.to_bytes(2, "big") + left.hash + right.hash)


def read_tree(items, above=-1):
    check(len(items) > 0, "proof.short")
    item = items.pop(0)
    if isinstance(item, str):
        return Cut(item)
    if isinstance(item, dict):
        return ShownLeaf(item)
    check(type(item) is int, "proof.item")
    check(above < item < 3200, "proof.bit")
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
    """Checks the shown part of the tree for one range, by the rules of the page."""

    def __init__(self, key_range, record_time):
        self.start, self.end, self.limit = key_range
        self.record_time, self.values = record_time, []

    def visit(self, node):
        if isinstance(node, ShownLeaf):
            is_asked = self.start <= node.key < self.end
            is_visible = node.expires_at is None or node.expires_at > self.record_time
            check(node.value is None or (is_asked and is_visible), "proof.needless")
            check(node.value is not None or not (is_asked and is_visible), "proof.hidden")
            if node.value is not None:
                self.values.append((node.item["key"], node.value))
                if len(self.values) == self.limit:
                    self.end = node.key
            return
        # A subtree of which only the hash is shown may contain a key of the range.
        check(node.key is not None, "proof.hidden")
        is_left_outside = is_outside(node.key, node.bit, 0, self.start, self.end)
        if is_left_outside and is_outside(node.key, node.bit, 1, self.start, self.end):
            self.show_gap(node)
            return
        self.visit_or_cut(node.left, is_left_outside)
        self.visit_or_cut(node.right, is_outside(node.key, node.bit, 1, self.start, self.end))

    def visit_or_cut(self, node, is_cut):
        if is_cut:
            check(isinstance(node, Cut), "proof.needless")
        else:
            self.visit(node)

    def show_gap(self, node):
        while isinstance(node, Inner):
            sides = [node.left, node.right]
            down = bit_of(self.start, node.bit)
            for side in (0, 1):
                is_cut = isinstance(sides[side], Cut)
                check(is_cut or side == down, "proof.needless")
                check(not is_cut or side != down, "proof.hidden")
            node = sides[down]
        check(node.value is None, "proof.needless")


def verify_proof(proof, certificate, ranges):
    check(isinstance(proof, list), "proof.list")
    root, items, runs = bytes.fromhex(certificate["state_root"]), list(proof), []
    for key_range in ranges:
        run = Run(key_range, certificate["record_time"])
        if root != bytes(32):
            tree = read_tree(items)
            check(tree.hash == root, "proof.root")
            run.visit(tree)
        runs.append(run.values)
    check(len(items) == 0, "proof.long")
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
    entry = parse_json(value, "value.json")
    check(isinstance(entry, dict), "value.entry")
    # A key of `n` has the name as its second component, one of `p` party and name.
    name = key[1] if key[0] == "n" else "".join(key[2:3])
    check(entry.get("name") == name, "value.entry")
    check(isinstance(entry.get("user"), str), "value.entry")
    check(key[0] == "n" or entry["user"] == key[1], "value.entry")
    check(party is None or entry["user"] == party, "value.party")
    return entry


def page_token(genesis_hash, listed, offset, after):
    content = offset.to_bytes(8, "big") + after.encode()
    checksum = sha256(b"quorumscan/page/1\0" + genesis_hash + sha256(listed) + content)[:16]
    return base64.urlsafe_b64encode(content + checksum).decode().rstrip("=")


def position_of(token, genesis_hash, listed, prefix):
    if token is None:
        return None
    rule = "request.page_token"
    # A list whose name cannot be in a key has no page tokens.
    check(listed is not None, rule)
    try:
        data = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        offset, after = int.from_bytes(data[:8], "big"), data[8:-16].decode()
    except ValueError:
        raise Refused(rule)
    check(offset < 2**53, rule)
    check(can_be_in_key(after), rule)
    check(after.startswith(prefix), rule)
    check(token == page_token(genesis_hash, listed, offset, after), rule)
    return offset, after


PARAMETERS = {
    "getEntryByName": ["name"],
    "getEntryByParty": ["party"],
    "lookupEntries": ["lookups"],
    "listEntries": ["name_prefix", "page_size", "page_token"],
    "listEntriesByParty": ["page_size", "page_token", "party"],
    "listActivities": ["begin_after_id", "page_size", "sort_order"],
    "getDso": ["shared"],
    "getAnsRules": ["cached_ans_rules_contract_id", "cached_ans_rules_domain_id"],
    "listScans": [],
}


def check_request(request, genesis, signers):
    """Checks the request of the caller, independently of the document."""
    nodes = len(genesis["nodes"])
    check(is_integer(signers), "request.signers")
    check((nodes - 1) // 3 + 1 <= signers <= nodes, "request.signers")
    operation, asked = request["operation"], request["parameters"]
    rule = "request.parameters"
    check(operation in PARAMETERS, rule)
    check(has_members(asked, PARAMETERS[operation]), rule)
    for name in ("name", "party", "name_prefix"):
        check(isinstance(asked.get(name, ""), str), rule)
    check(is_integer(asked.get("page_size", 1)) and asked.get("page_size", 1) > 0, rule)
    check(isinstance(asked.get("page_token") or "", str), rule)
    check(asked.get("shared", True) is True, rule)
    check(operation != "getAnsRules" or set(asked.values()) == {None}, rule)
    if operation == "listActivities":
        check(asked["sort_order"] in ("asc", "desc"), rule)
        after = asked["begin_after_id"]
        check(after is None or (isinstance(after, str) and is_event_id(after)), rule)
    check(isinstance(asked.get("lookups", []), list), rule)
    for one in asked.get("lookups", []):
        check(has_members(one, ["name"]) or has_members(one, ["party"]), rule)
        check(all(isinstance(value, str) for value in one.values()), rule)


def is_event_id(text):
    return re.fullmatch("[0-9]{16}:[0-9]{4}", text) is not None


def question_of(request, genesis):
    """The ranges of a request, its pinned offset, and a function from their values to the answer."""
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
    return run_of("c", key), None, lambda runs, _: parse_json(runs[0][0][1], "value.json") if runs[0] else None


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
    listed = text.encode() if can_be_in_key(prefix if party is None else party) else None
    position = position_of(asked["page_token"], genesis_hash, listed, prefix)
    if party is None:
        beginning = b"n\0" + prefix.encode("utf-8", "replace")
        start = beginning if position is None else b"n\0" + position[1].encode() + b"\1"
        end = beginning[:-1] + bytes([beginning[-1] + 1])
        ranges = [(start, end, size + 1)] if can_be_in_key(prefix) else []
    else:
        ranges = run_of("p", party, limit=size + 1)
        if position is not None:
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
    """RFC 9162, 2.1: the hash of `count` leaves from `start` on. `node` returns the known hash of a part, or None."""
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
    check(has_members(row, ["event_id", "record_time", shown]), "run.row")
    check(isinstance(row["event_id"], str), "run.row")
    check(is_event_id(row["event_id"]), "run.row")
    check(is_integer(row["record_time"]), "run.row")
    check(isinstance(row[shown], str), "run.row")
    row_hash = sha256(row["row"].encode()) if is_inside else decode_hash(row["row_hash"])
    return sha256(b"\0" + row["event_id"].encode() + row["record_time"].to_bytes(8, "big") + row_hash)


def verify_activities(proof, certificate, asked, genesis):
    check(has_members(proof, ["run", "state"]), "run.form")
    [values] = verify_proof(proof["state"], certificate, run_of("a"))
    check(len(values) == 1, "activities.tree")
    tree, run = parse_json(values[0][1], "value.json"), proof["run"]
    check(isinstance(tree, dict), "activities.tree")
    check(is_integer(tree.get("size")), "activities.tree")
    check(is_hex(tree.get("root"), 64), "activities.tree")
    size = tree["size"]
    check(has_members(run, ["first", "hashes", "rows"]), "run.form")
    first, rows = run["first"], run["rows"]
    check(is_integer(first), "run.form")
    check(isinstance(rows, list), "run.form")
    check(isinstance(run["hashes"], list), "run.form")
    check(all(isinstance(row, dict) for row in rows), "run.row")
    inside = [row for row in rows if "row" in row]
    end = first + len(inside)
    check(end <= size, "run.rows")
    # A run needs the row on either side, unless the tree ends there. Without them it could claim any place.
    before_count, behind_count = int(first > 0), int(end < size)
    check(len(rows) == before_count + len(inside) + behind_count, "run.rows")
    check(rows[before_count : before_count + len(inside)] == inside, "run.rows")
    before, behind = rows[:before_count], rows[before_count + len(inside) :]
    leaves = [leaf_of(row, "row" in row) for row in rows]
    start, hashes = first - len(before), [decode_hash(one) for one in run["hashes"]]

    def sibling(at, count):
        if at < start + len(leaves) and at + count > start:
            return None
        check(len(hashes) > 0, "run.root")
        return hashes.pop(0)

    root = sha256(b"") if size == 0 else tree_hash(lambda index: leaves[index - start], sibling, 0, size)
    check(root == bytes.fromhex(tree["root"]), "run.root")
    check(len(hashes) == 0, "run.root")

    after, order = asked["begin_after_id"], asked["sort_order"]
    gone_until = certificate["record_time"] - genesis["activityRetentionMicros"]

    def is_visible(row):
        return row["record_time"] > gone_until

    def is_asked(row):
        return after is None or (row["event_id"] > after if order == "asc" else row["event_id"] < after)

    check(len(inside) <= asked["page_size"], "page.size")
    check(all(is_visible(row) for row in inside), "page.visible")
    check(all(is_asked(row) for row in inside), "page.asked")
    if order == "asc":
        check(all(not is_visible(row) or not is_asked(row) for row in before), "page.begin")
        check(len(inside) > 0 or not behind, "page.empty")
    else:
        check(not any(is_asked(row) for row in behind), "page.begin")
        check(len(inside) > 0 or not any(is_visible(row) for row in before), "page.empty")
        check(len(inside) > 0 or all(is_visible(row) for row in behind), "page.empty")
    values = []
    for row in inside:
        value = parse_json(row["row"], "value.json")
        check(isinstance(value, dict), "page.row")
        check(value.get("event_id") == row["event_id"], "page.row")
        values.append(value)
    return {"activities": values if order == "asc" else values[::-1]}


# Document.


def verify(data, genesis, request, signers, offset_min=0):
    """Returns what a document proves. offset_min is the offset of the previous page of activities."""
    check_request(request, genesis, signers)
    is_run = request["operation"] == "listActivities"
    ranges, offset, answer = ([], None, None) if is_run else question_of(request, genesis)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("json")
    document = parse_json(text, "json")
    # The document must equal its own canonical encoding. So no text in it has half of a surrogate pair, which would be
    # an escape in the document, but not in the encoding.
    check(canonical(document) == text, "spelling")
    check(has_members(document, ["certificate", "proof"]), "document.members")
    certificate = document["certificate"]
    signed_by = verify_certificate(certificate, genesis, signers)
    check(offset in (None, certificate["offset"]), "walk.offset")
    if is_run:
        check(certificate["offset"] >= offset_min, "walk.offset")
        return {
            "answer": verify_activities(document["proof"], certificate, request["parameters"], genesis),
            "offset": certificate["offset"],
            "signed_by": signed_by,
        }
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


def judge_vector(vector, genesis):
    encoded = vector.get("document_base64")
    data = vector["document"].encode() if encoded is None else base64.b64decode(encoded)
    return judge(data, genesis, vector["request"], vector["signers"], vector.get("offset_min", 0))


def main(arguments):
    sys.setrecursionlimit(10_000)
    if len(arguments) == 1:
        with open(arguments[0], encoding="utf-8") as file:
            vectors = json.load(file)
        genesis = json.loads(vectors["genesis"])
        print(json.dumps([judge_vector(one, genesis) for one in vectors["vectors"]]))
        return 0
    genesis_file, document_file, request, signers = arguments
    with open(genesis_file, encoding="utf-8") as file:
        genesis = json.load(file)
    with open(document_file, "rb") as file:
        judged = judge(file.read(), genesis, json.loads(request), int(signers))
    print(json.dumps(judged))
    return 1 if "refused" in judged else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
