# SPDX-License-Identifier: GPL-2.0-or-later
"""The part of JSON Schema that docs/schema uses, and nothing more: a word that is not checked here is
an error of the schema (unknown_words)."""

WORDS = {"type", "required", "properties", "additionalProperties", "items", "enum", "const",
         "minimum", "exclusiveMinimum"}
NOTES = {"$schema", "$id", "title", "description"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int,
         "number": (int, float), "null": type(None)}


def _is(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def errors(schema, value, place="document"):
    """What of `value` is not as `schema` says, a sentence each."""
    found = []
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(_is(value, name) for name in names):
        return [f"{place}: {value!r} is no {' or '.join(names)}"]
    if "const" in schema and value != schema["const"]:
        found.append(f"{place}: {value!r} is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{place}: {value!r} must be one of {schema['enum']}")
    if "minimum" in schema and _is(value, "number") and value < schema["minimum"]:
        found.append(f"{place}: {value!r} is below {schema['minimum']}")
    if "exclusiveMinimum" in schema and _is(value, "number") and value <= schema["exclusiveMinimum"]:
        found.append(f"{place}: {value!r} is not above {schema['exclusiveMinimum']}")
    if isinstance(value, dict):
        found += [f"{place}: {name} is missing" for name in schema.get("required", [])
                  if name not in value]
        others = schema.get("additionalProperties", True)
        for name, member in value.items():
            if name in schema.get("properties", {}):
                found += errors(schema["properties"][name], member, f"{place}.{name}")
            elif others is False:
                found.append(f"{place}: {name} is not described")
            elif isinstance(others, dict):
                found += errors(others, member, f"{place}.{name}")
    if isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            found += errors(schema["items"], item, f"{place}[{number}]")
    return found


def unknown_words(schema):
    """Words of a schema that errors() would not look at."""
    found = sorted(set(schema) - WORDS - NOTES)
    for inner in schema.get("properties", {}).values():
        found += unknown_words(inner)
    for word in ("items", "additionalProperties"):
        if isinstance(schema.get(word), dict):
            found += unknown_words(schema[word])
    return found


def described_paths(schema, value, path=()):
    """Paths of the values in `value` that `schema` gives a type, of lists the first item only."""
    paths = [path] if path and {"type", "const", "enum"} & set(schema) else []
    if isinstance(value, dict):
        for name, member in value.items():
            inner = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
            if isinstance(inner, dict):
                paths += described_paths(inner, member, path + (name,))
    if isinstance(value, list) and value and "items" in schema:
        paths += described_paths(schema["items"], value[0], path + (0,))
    return paths
