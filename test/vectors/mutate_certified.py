#!/usr/bin/env python3
"""Removes each single check from verify_certified.py in turn, and prints those whose removal no vector detects.

    python3 test/vectors/mutate_certified.py [N]     of all removals, or of every N-th; exits with 1 if one survives
                                                     that REDUNDANT does not list, or if a vector notices one that
                                                     it lists

A mutant lacks one call of check(), one guard (an `if` that ends in return or raise), one operand of `and` or `or`, or
one bound of a chained comparison. The first vector with another answer, another rule or a crash kills it.
"""
import ast
import base64
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
SOURCE = (HERE / "verify_certified.py").read_text(encoding="utf-8")

# Removals that change nothing, each with the reason.
REDUNDANT = {
    "verify_activities: check(len(inside) > 0 or all((is_visible(row) for row in behind)), 'page.empty')"
    " -- len(inside) > 0": "Record times never decrease in a tree, so the row after visible ones is visible.",
}

ED25519 = {"recover_x", "add", "multiply", "decode_point", "is_signature"}
# Functions that do not verify.
EXCLUDED = {"main", "judge", "judge_vector", "check", "canonical", "bit_of"}


def without_operand(node, index):
    rest = node.values[:index] + node.values[index + 1 :]
    return rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


def without_bound(node, index):
    """`a < b < c` without its first or its last part."""
    if index == 0:
        return ast.Compare(node.comparators[0], node.ops[1:], node.comparators[1:])
    return ast.Compare(node.left, node.ops[:-1], node.comparators[:-1])


def is_check(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "check"


def is_guard(node):
    return isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], (ast.Return, ast.Raise))


def removals(tree):
    """For each: the function, what is removed, the rule of the check around it, and how to make the mutant."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or function.name in EXCLUDED:
            continue
        nested = {id(node) for inner in ast.walk(function) if inner is not function
                  and isinstance(inner, ast.FunctionDef) for node in ast.walk(inner)}
        statements = [node for node in ast.walk(function) if isinstance(node, ast.stmt) and id(node) not in nested]
        for statement in statements:
            if statement is function or isinstance(statement, ast.FunctionDef):
                continue
            rule = statement.value.args[1] if is_check(statement) and len(statement.value.args) > 1 else None
            rule = rule.value if isinstance(rule, ast.Constant) else None
            text = ast.unparse(statement).split("\n")[0]
            if is_check(statement) or is_guard(statement):
                yield function.name, text, text, rule, (statement, None, None)
            own = [child for child in ast.iter_child_nodes(statement) if not isinstance(child, ast.stmt)]
            for node in (found for child in own for found in ast.walk(child)):
                if isinstance(node, ast.BoolOp):
                    for index, value in enumerate(node.values):
                        yield function.name, text, ast.unparse(value), rule, (node, without_operand, index)
                if isinstance(node, ast.Compare) and len(node.ops) == 2:
                    for index in (0, 1):
                        kept = ast.unparse(without_bound(node, index))
                        yield function.name, text, f"all but {kept}", rule, (node, without_bound, index)


class Replace(ast.NodeTransformer):
    def __init__(self, target, by):
        self.target, self.by = target, by

    def visit(self, node):
        return self.by if node is self.target else self.generic_visit(node)


def mutant_of(number):
    tree = ast.parse(SOURCE)
    *_, (node, change, index) = list(removals(tree))[number]
    by = ast.Pass() if change is None else change(node, index)
    return ast.fix_missing_locations(Replace(node, by).visit(tree))


signatures = {}


def load(tree, is_cached):
    names = {"__name__": "mutant"}
    exec(compile(tree, "mutant", "exec"), names)
    if is_cached:
        verify = names["is_signature"]

        def remembered(*arguments):
            if arguments not in signatures:
                signatures[arguments] = verify(*arguments)
            return signatures[arguments]

        names["is_signature"] = remembered
    return names["judge_vector"]


def is_judged(judge, vector, genesis):
    try:
        judged = judge(vector, genesis)
    except Exception:
        return False
    if "refuse" in vector:
        return judged.get("refused") == vector["refuse"]
    return judged.get("answer") == vector["answer"] and judged.get("signed_by") == vector["signed_by"]


def main():
    sys.setrecursionlimit(10_000)
    stored = json.loads((HERE / "certified.json").read_text(encoding="utf-8"))
    genesis, vectors = json.loads(stored["genesis"]), stored["vectors"]
    whole = load(ast.parse(SOURCE), True)
    for vector in vectors:
        assert is_judged(whole, vector, genesis), vector["name"]
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    found, names, survivors, recent = list(removals(ast.parse(SOURCE))), [], [], []
    for number, (function, text, removed, rule, _) in list(enumerate(found))[::every]:
        judge = load(mutant_of(number), function not in ED25519)
        # Vectors that are likely to detect it come first.
        order = [one for one in vectors if rule is not None and one.get("refuse") == rule] + recent[-8:] + vectors
        killer = next((one for one in order if not is_judged(judge, one, genesis)), None)
        names.append(f"{function}: {text}" if removed == text else f"{function}: {text} -- {removed}")
        if killer is None:
            survivors.append(names[-1])
        else:
            recent = [one for one in recent if one is not killer] + [killer]
    print(f"{len(names)} removals, {len(survivors)} survive")
    unknown = [one for one in survivors if one not in REDUNDANT]
    stale = [one for one in REDUNDANT if one in names and one not in survivors]
    stale += [one for one in REDUNDANT if every == 1 and one not in names]
    for one in survivors:
        print(f"  {one}\n    {REDUNDANT.get(one, 'NOT LISTED')}")
    for one in stale:
        print(f"  listed as redundant, and noticed, or not there: {one}")
    return 1 if unknown or stale else 0


if __name__ == "__main__":
    sys.exit(main())
