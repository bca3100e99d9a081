# SPDX-License-Identifier: GPL-2.0-or-later
# fish completion for rubato(1). Options and their texts are those that the installed program prints.

# "OPTION<tab>TEXT" for each option of a command; --long options only where there is one.
function __rubato_options
    rubato $argv[1] --help 2>/dev/null | awk '
      function out() { if (name != "") print name "\t" text; name = "" }
      /^  -/ {
        out(); line = substr($0, 3); text = ""
        if (match(line, /  +/)) { text = substr(line, RSTART + RLENGTH); line = substr(line, 1, RSTART - 1) }
        n = split(line, part, /, /); split(part[n], word, " "); name = word[1]; next }
      /^            / { if (name != "") { sub(/^ +/, ""); text = text (text == "" ? "" : " ") $0 }; next }
      { out() }
      END { out() }'
end

# Words of a column of the table that `rubato models` prints first: no call to slurmctld.
function __rubato_profiles
    rubato models 2>/dev/null | awk -v column=$argv[1] \
        'NF == 0 { exit } NR > 1 && $column != "-" && $column != "(all)" { print $column }' | sort -u
end

function __rubato_jobs
    rubato explain --color=never 2>/dev/null | awk 'NR > 1 && $2 ~ /^[0-9]/ { print $2 }'
end

function __rubato_commands
    rubato --help 2>/dev/null | string replace -rf '^  ([a-z]+)  +([A-Z].*)$' '$1\t$2'
end

# The word after an option that takes a value. False: the word before is not such an option.
function __rubato_value
    switch $argv[2]
        case --color
            printf '%s\n' auto always never
        case --publish-dir --data -d
            __fish_complete_directories
        case --replay --output -o --file --workload -w --profiles --csv --information
            __fish_complete_path
        case --user -u
            __fish_complete_users
        case --type -t
            test $argv[1] = models; and __rubato_profiles 1
        case --account -A
            __rubato_profiles 2
        case --gpu-type -g
            __rubato_profiles 3
        case --format
            test $argv[1] = models; and printf '%s\n' csv json
        case '*'
            return 1
    end
    return 0
end

function __rubato_words
    set -l words (commandline -opc)
    set -l now (commandline -ct)
    test (count $words) -ge 2; or return
    __rubato_value $words[2] $words[-1]; and return
    if string match -q -- '-*' $now
        __rubato_options $words[2]
        return
    end
    switch $words[2]
        case explain
            __rubato_jobs
        case models
            if test (count $words) -eq 2
                printf '%s\n' list show curve fit export import forget
            else if test $words[-1] = import
                __fish_complete_path
            else
                __rubato_profiles 1
            end
        case whatif
            __fish_complete_path
    end
end

complete -c rubato -f -n 'test (count (commandline -opc)) -eq 1' -a '(__rubato_commands)'
complete -c rubato -f -n 'test (count (commandline -opc)) -ge 2' -a '(__rubato_words)'
complete -c rubato -f -n 'test (count (commandline -opc)) -eq 1' -l help -l usage -l version
