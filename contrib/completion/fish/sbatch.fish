# SPDX-License-Identifier: GPL-2.0-or-later
# fish completion of job hints, rubato-hints(7), for sbatch; salloc.fish and srun.fish are links to this file. fish adds
# them to other completions that it has loaded for these commands. The table is that of `rubato hints`.

if command -q rubato
    set -l command (status basename | string replace .fish '')
    function __rubato_hint_profiles
        rubato models 2>/dev/null | awk -v column=$argv[1] \
            'NF == 0 { exit } NR > 1 && $column != "-" && $column != "(all)" { print $column }' | sort -u
    end
    # The words of a list with commas, behind those that are written.
    function __rubato_hint_list
        set -l now (commandline -ct | string replace -r '^--[a-z-]+=' '')
        set -l head (string match -r '.*[,/>]' -- $now)
        printf '%s\n' "$head"$argv
    end
    rubato hints 2>/dev/null | awk '
        function out() { if (option != "") print option "\t" argument "\t" text "\t" words; option = "" }
        /^--dl-/ { out(); n = split($1, part, "="); option = substr(part[1], 3); argument = n > 1; text = words = ""; next }
        /^      [a-z-]+: / { sub(/:$/, "", $1); words = words (words == "" ? "" : " ") $1; next }
        /^    / { if (text == "") { sub(/^ +/, ""); sub(/\.$/, ""); text = $0 } }
        END { out() }' | while read -l -d \t option argument text words
        set -l values $words
        switch $option
            case dl-job-type
                set values '(__rubato_hint_profiles 1)'
            case dl-gpu-types
                set values '(__rubato_hint_list (__rubato_hint_profiles 3))'
            case dl-plans
                set values "(__rubato_hint_list auto $words)"
            case dl-model
                set values "(__rubato_hint_list "(string join ' ' (string split ' ' $words)=)")"
            case dl-checkpoint
                set values 'none USR1@60 B:USR1@60'
        end
        if test $argument -eq 1
            complete -c $command -l $option -x -d $text -a "$values"
        else
            complete -c $command -l $option -d $text
        end
        complete -c $command -l no-$option -d "unsets --$option"
    end
end
