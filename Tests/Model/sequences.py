"""Random sequences of what people and scripts do to an inbox, and how one is made smaller, and printed.

A sequence is JSON: `options` of the program, `format` of the manifests (`jsonl` by default, or `json`), and `steps`, each a
list of a word and its operands:

    put JOB [ENTRY…]     drops a manifest, or replaces the one that is there; an entry is what stands on a line of it, and
                         without `url` has the manifest rejected
    put JOB [ENTRY…] SOURCE
                         the same with a manifest that only says where the entries are listed: `list/MILLISECONDS`, by the
                         server; `missing/MILLISECONDS`, by the server, which does not have that; `folder`: they are files
    retry JOB            darkroom retry, when the job has ended
    remove JOB           removes the manifest, if it is there
    cancel JOB           darkroom cancel
    lock NAME SECONDS    makes a lock, and waits as long at most for the program to say that it has paused
    unlock NAME          removes it
    kill, stop, start    SIGKILL; SIGTERM and the end of the program; the program
    wait MILLISECONDS    nothing
    requests N           waits for so many requests, at most 100 ms
    settle               if the program runs, waits until everything has ended; while there is a lock, what was removed or
                         cancelled
"""
import copy
import json
import random
import shlex

from picture_server import FILES, list_path

JOBS = ("a", "b", "c")
LOCKS = ("x", "y")
RECIPES = ("none", "sepia(0.8)", "invert(1)")
BAD = {"name": "bad", "filters": "resize(exact 20000 9 enlarge)", "format": "webp"}
KINDS = ["p0", "p1", "p2", "p3", "p4", "p5", "large", "bare"] * 2 + ["missing", "missing", "text", "once", "cut"]
STEPS = {"put": 30, "remove": 8, "cancel": 8, "lock": 7, "unlock": 7, "kill": 9, "start": 12, "stop": 3, "wait": 18,
         "requests": 8, "settle": 6, "retry": 5}


def random_sequence(seed):
    choice = random.Random(seed)
    options = ["--downloads", str(choice.choice((1, 2, 4, 16))), "--filtrations", str(choice.choice((1, 2)))]
    options += ["--jobs", str(choice.choice((1, 2, 16)))]
    options += ["--cache-size", "0"] if choice.random() < 0.3 else []
    options += ["--keep-originals"] if choice.random() < 0.2 else []
    options += ["--prune"] if choice.random() < 0.2 else []
    form = choice.choice(("json", "jsonl"))
    # Not all of them in each sequence: some things happen only when the same is done again and again.
    weights = {word: weight if word in ("put", "start") else weight * choice.choice((0, 1, 2)) for word, weight in STEPS.items()}
    jobs = JOBS[:choice.choice((1, 1, 2, 2, 3))]
    manifests = {}
    steps = [["start"]] if choice.random() < 0.7 else []
    for number in range(choice.randint(5, 14)):
        word = "put" if number == 0 else choice.choices(list(weights), weights.values())[0]
        job = choice.choice(jobs)
        if word == "put":
            source = random_source(choice) if form == "json" else None
            if source == "folder":
                manifests[job] = random_folder(choice, job)
            else:
                manifests[job] = random_manifest(choice, job, manifests.get(job))
            if source and source.startswith("list/"):
                # A list that a server has sent may not name files.
                for entry in manifests[job]:
                    if entry["url"].startswith("./"):
                        entry["url"] = random_url(choice, job, entry["name"])
            bad = [{"name": "rejected"}] if choice.random() < 0.07 and source != "folder" else []
            steps.append(["put", job, manifests[job] + bad] + ([source] if source else []))
        elif word in ("remove", "cancel", "retry"):
            steps.append([word, job])
        elif word == "lock":
            steps.append([word, choice.choice(LOCKS), choice.choice((0, 0, 5))])
        elif word == "unlock":
            steps.append([word, choice.choice(LOCKS)])
        elif word == "wait":
            steps.append([word, choice.choice((1, 3, 10, 30, 80))])
        elif word == "requests":
            steps.append([word, choice.randint(1, 4)])
        else:
            steps.append([word])
    return {"options": options, "format": form, "steps": steps}


def random_source(choice):
    """Where the entries of a manifest are listed; None when it has them itself."""
    return choice.choice(
        (None, None, None, f"list/{choice.choice((0, 5, 20, 60))}", f"list/{choice.choice((0, 5, 20, 60))}", "folder",
         f"missing/{choice.choice((0, 20))}" if choice.random() < 0.3 else None))


def random_folder(choice, job):
    """Entries that are files of a folder, all with the same recipe."""
    recipe = choice.choice(RECIPES)
    return [{"name": name, "url": f"./{job}/{name}.png", "filters": recipe} for name in sorted(choice.sample(list(FILES), 3))]


def manifest(job, entries, form, source=None):
    """The text of a manifest. `URL` stands for that of the server."""
    lines = "\n".join(json.dumps(entry) for entry in entries)
    if source == "folder":
        pattern = "".join(entry["name"].removeprefix("n") for entry in entries)
        defaults = {"filters": entries[0]["filters"]}
        return json.dumps({"source": f"file:{job}/n[{pattern}].png", "defaults": defaults})
    if source:
        kind, milliseconds = source.split("/")
        path = list_path(lines, milliseconds) if kind == "list" else source
        return json.dumps({"source": f"URL/{job}/{path}"})
    return lines if form == "jsonl" else "[" + lines.replace("\n", ",\n") + "]"


def random_manifest(choice, job, earlier):
    """A manifest that has something in common with the one before it."""
    kept = {}
    for entry in earlier or []:
        if choice.random() < 0.75:
            kept[entry["name"]] = copy.deepcopy(entry)
            if choice.random() < 0.25:
                kept[entry["name"]] = random_entry(choice, job, entry["name"], entry["url"])
    for name in choice.sample(range(6), choice.randint(0 if kept else 1, 3)):
        name = f"n{name}"
        kept.setdefault(name, random_entry(choice, job, name))
    entries = list(kept.values())
    for entry in entries:
        # Names before its own, so that there is no circle.
        entry["after"] = [name for name in entry.get("after", []) if name in kept]
        before = [name for name in kept if name < entry["name"]]
        if not entry["after"] and before and choice.random() < 0.2:
            entry["after"] = choice.sample(before, min(len(before), choice.randint(1, 2)))
        if not entry["after"]:
            del entry["after"]
    if choice.random() < 0.5:
        choice.shuffle(entries)
    return entries


def random_url(choice, job, name):
    return f"URL/{job}/{name}/{choice.choice(KINDS)}/{choice.choice((0, 0, 5, 20, 60))}"


def random_entry(choice, job, name, url=None):
    if not url or choice.random() < 0.3:
        url = random_url(choice, job, name)
    entry = {"name": name, "url": url}
    if choice.random() < 0.5:
        entry["filters"] = choice.choice(RECIPES)
    if choice.random() < 0.2:
        entry["priority"] = choice.choice(("veryHigh", "low"))
    if choice.random() < 0.3:
        variants = [{"name": "v", "filters": choice.choice(RECIPES)}, {"name": "w", "format": "webp"}]
        entry["variants"] = variants[:choice.randint(1, 2)] + ([BAD] if choice.random() < 0.2 else [])
        choice.shuffle(entry["variants"])
    return entry


# Making a sequence smaller

def smaller(sequence):
    """Sequences with less in them, those with much less first."""
    steps = sequence["steps"]
    size = len(steps) // 2
    while size >= 1:
        for start in range(0, len(steps), size):
            yield sequence | {"steps": steps[:start] + steps[start + size:]}
        size //= 2
    for number, step in enumerate(steps):
        if step[0] == "put":
            is_folder = step[3:] == ["folder"]
            if step[3:] and not is_folder:
                yield sequence | {"steps": steps[:number] + [step[:3]] + steps[number + 1:]}
            for entries in smaller_folders(step[2]) if is_folder else smaller_manifests(step[2]):
                yield sequence | {"steps": steps[:number] + [["put", step[1], entries] + step[3:]] + steps[number + 1:]}
    for option in ("--cache-size", "--keep-originals", "--prune"):
        if option in sequence["options"]:
            place = sequence["options"].index(option)
            length = 2 if option == "--cache-size" else 1
            yield sequence | {"options": sequence["options"][:place] + sequence["options"][place + length:]}


def smaller_folders(entries):
    for number in range(len(entries) if len(entries) > 1 else 0):
        yield entries[:number] + entries[number + 1:]


def smaller_manifests(entries):
    for number, entry in enumerate(entries):
        rest = copy.deepcopy(entries[:number] + entries[number + 1:])
        for other in rest:
            other["after"] = [name for name in other.get("after", []) if name != entry["name"]]
            if not other["after"]:
                del other["after"]
        if rest:
            yield rest
        for key in ("after", "variants", "filters", "priority"):
            if key in entry:
                less = {name: value for name, value in entry.items() if name != key}
                yield entries[:number] + [less] + entries[number + 1:]
        if len(entry.get("variants", [])) > 1:
            for place in range(len(entry["variants"])):
                less = entry | {"variants": entry["variants"][:place] + entry["variants"][place + 1:]}
                yield entries[:number] + [less] + entries[number + 1:]


# Printing

HEAD = """#!/usr/bin/env bash
# {what}
# From the project's folder: bash THIS [PROGRAM]. It may take several attempts: what happens is a matter of milliseconds.
program=${{1:-$(script/build)}}
folder=$(mktemp -d) && mkdir "$folder/inbox" "$folder/outbox" "$folder/files"
for job in a b c; do python3 Tests/Model/picture_server.py "$folder/files/$job"; done
python3 Tests/Model/picture_server.py >"$folder/requests" & server=$!
trap 'kill $server; rm -rf "$folder"' EXIT
until [[ -s $folder/requests ]]; do sleep 0.01; done
url=$(head -1 "$folder/requests")/1 named=(--inbox "$folder/inbox" --outbox "$folder/outbox")

start() {{ "$program" watch "${{named[@]}}" --file-root "$folder/files" {options} >"$folder/log" 2>&1 & watch=$!; }}
stop() {{
  until [[ $1 == KILL ]] || grep -q watching "$folder/log"; do sleep 0.01; done
  kill -"$1" "$watch"; wait "$watch"; cat "$folder/log"
}} 2>/dev/null
put() {{ sed "s|URL|$url|" >"$folder/.$1" && mv "$folder/.$1" "$folder/inbox/$1"; }}
settle() {{
  until [[ $("$program" status --json "${{named[@]}}") == *'"jobs":[]'* && -z $(ls "$folder/inbox") ]]; do sleep 0.05; done
}}
# put writes beside the inbox and renames; each manifest has its own number of newlines at its end, to tell it from others.

"""
TAIL = """
{end}settle
stop TERM
script/check-outbox --done --inbox "$folder/inbox" "$folder/outbox"
grep -H '' "$folder"/outbox/*/{{,history/*/}}report.json "$folder/requests" | sed "s|$folder/||"
"""


def script(sequence, what, options):
    """A sequence as a script of a shell, for people."""
    head = HEAD.format(what=what.replace("\n", "\n# "), options=shlex.join(options))
    lines, versions, locks, runs = [], {}, set(), False
    form = sequence.get("format", "jsonl")
    for step in sequence["steps"]:
        word = step[0]
        if word == "put":
            versions[step[1]] = versions.get(step[1], 0) + 1
            text = manifest(step[1], step[2], form, *step[3:]) + "\n" * versions[step[1]]
            lines.append(f"put {step[1]}.{form} <<'END'\n{text}END")
        elif word == "remove":
            lines.append(f'rm -f "$folder/inbox/{step[1]}.{form}"')
        elif word == "retry":
            if runs and not locks:
                lines.append("settle  # this job is enough")
            lines.append(f'"$program" retry "${{named[@]}}" {step[1]}')
        elif word == "cancel":
            lines.append(f'"$program" cancel "${{named[@]}}" {step[1]}')
        elif word == "lock":
            locks.add(step[1])
            lines.append(f'touch "$folder/inbox/{step[1]}.lock"' + ("; sleep 0.1  # it has paused" if step[2] else ""))
        elif word == "unlock":
            locks.discard(step[1])
            lines.append(f'rm -f "$folder/inbox/{step[1]}.lock"')
        elif word in ("kill", "stop") and runs:
            runs = False
            lines.append(f"stop {'KILL' if word == 'kill' else 'TERM'}")
        elif word == "start" and not runs:
            runs = True
            lines.append("start")
        elif word == "wait":
            lines.append(f"sleep {step[1] / 1000}")
        elif word == "requests":
            lines.append(f"sleep 0.02  # {step[1]} requests")
        elif word == "settle" and runs and not locks:
            lines.append("settle")
    end = "".join(f'rm -f "$folder/inbox/{name}.lock"\n' for name in sorted(locks)) + ("" if runs else "start\n")
    return head + "\n".join(lines) + "\n" + TAIL.format(end=end)
