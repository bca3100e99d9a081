# SPDX-License-Identifier: GPL-2.0-or-later
# fish completion for rqueue(1). The options are those that the installed program prints.

function __rqueue_fields
    set -l now (commandline -ct | string replace -r '^--[A-Za-z]+=' '')
    set -l head (string match -r '.*,' -- $now)
    rqueue --helpformat 2>/dev/null | awk '$1 ~ /^[a-z]/ && /^  / { print $1 }' | string replace -r '^' "$head"
end

for option in (rqueue --help 2>/dev/null | string match -ra -- '(?:-[A-Za-z], )?--[A-Za-z]+(?:-[a-z]+)*=?' | sort -u)
    set -l part (string split ', ' -- $option)
    set -l name (string replace -r '^--' '' -- $part[-1] | string trim -rc =)
    set -l names -l $name
    if test (count $part) -eq 2
        set -a names -s (string sub -s 2 -- $part[1])
    end
    switch $part[-1]
        case --color=
            complete -c rqueue $names -x -a 'auto always never'
        case --user=
            complete -c rqueue $names -x -a '(__fish_complete_users)'
        case --Format= --sort=
            complete -c rqueue $names -x -a '(__rqueue_fields)'
        case --states=
            complete -c rqueue $names -x -a 'all PENDING RUNNING SUSPENDED COMPLETED CANCELLED FAILED TIMEOUT NODE_FAIL PREEMPTED COMPLETING CONFIGURING REQUEUED'
        case '*='
            complete -c rqueue $names -x
        case '*'
            complete -c rqueue $names -f
    end
end
