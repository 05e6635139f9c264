# Completion of the command sennit for bash, and for zsh after `autoload -U compinit bashcompinit; compinit; bashcompinit`. It asks
# the called program for its help, so it offers exactly the words that this program accepts.

# The first column of a line of help: names, and the word for a value.
_sennit_left() {
    local line=$1
    if [[ "${line:29:1}" == " " ]]; then line=${line:0:29}; fi
    printf '%s' "$line"
}

# The commands of a help text.
_sennit_commands() {
    local line is_list=no
    while IFS= read -r line; do
        case $line in
        Subcommands:) is_list=yes ;;
        "  "*)
            if [[ $is_list == yes ]]; then
                line=${line#  }
                printf '%s\n' "${line%% *}"
            fi
            ;;
        *) is_list=no ;;
        esac
    done <<< "$1"
}

# The options of a help text, one per line, each followed by the word for its value.
_sennit_options() {
    local line names value is_list=no
    while IFS= read -r line; do
        if [[ $line == Options: ]]; then is_list=yes; elif [[ $line != " "* ]]; then is_list=no; fi
        if [[ $is_list == no || $line != "  -"* ]]; then continue; fi
        line=$(_sennit_left "${line#  }")
        names=${line%% *}
        value=${line#"$names"}
        value=${value# }
        while [[ -n $names ]]; do
            printf '%s %s\n' "${names%%,*}" "${value%% *}"
            if [[ $names != *,* ]]; then break; fi
            names=${names#*,}
        done
    done <<< "$1"
}

_sennit() {
    local word=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]} help options before commands="" place=1 option=""
    COMPREPLY=()
    help=$("$program" --help 2>/dev/null) || return 0
    while ((place < COMP_CWORD)); do
        before=${COMP_WORDS[place]}
        options=$(_sennit_options "$help")
        option=""
        if [[ $before == -- ]]; then
            return 0
        elif [[ $before == -* ]]; then
            # An option whose value is the next word.
            option=$(grep -m 1 -e "^$before [^ ]" <<< "$options" 2>/dev/null)
            if [[ -n $option ]]; then place=$((place + 1)); fi
            # readline splits --option=value into three words.
            if [[ -n $option && ${COMP_WORDS[place]:-} == "=" ]] && ((place < COMP_CWORD)); then place=$((place + 1)); fi
        elif _sennit_commands "$help" | grep -qx -e "$before"; then
            commands="$commands $before"
            help=$(eval '"$program"'"$commands --help" 2>/dev/null) || return 0
        elif [[ $commands == " run" ]]; then
            return 0  # the rank's program and its own words
        fi
        place=$((place + 1))
    done
    if [[ $word == "=" ]]; then word=""; fi
    local offer
    if [[ -n $option ]] && ((place > COMP_CWORD)); then
        # The value of an option: one of the words in braces, otherwise the shell offers files.
        if [[ $option != *\{*\}* ]]; then return 0; fi
        offer=${option#*\{}
        offer=${offer%%\}*}
        offer=${offer//,/ }
    elif [[ $word == -* ]]; then
        offer=$(_sennit_options "$help" | cut -d ' ' -f 1)
    else
        offer=$(_sennit_commands "$help")
    fi
    COMPREPLY=($(compgen -W "$offer" -- "$word"))
}

complete -o default -F _sennit sennit
