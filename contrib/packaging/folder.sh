# PluginDir may go on naming this folder, and Slurm's commands and daemons do not start without a folder that it names.
# So the folder is never missing while this package goes away: a file in it keeps dpkg and rpm from removing it.
folder=/usr/lib/rubato/slurm-@VERSION@
note=$folder/KEPT
# Where Slurm's configuration on this host may be: /etc/slurm, or what slurmd got without one.
places="/etc/slurm /run/slurm/conf /var/spool/slurmd/conf-cache ${SLURM_CONF-}"

keep_folder() {
  [ -d "$folder" ] || mkdir -p "$folder"
  cat > "$note" <<TEXT
Rubato's plugins were removed. This folder stays because PluginDir of slurm.conf may name it: Slurm's commands and
daemons do not start if it is missing. Remove it from PluginDir on all hosts, then delete it.
TEXT
}

# Whether Slurm's configuration on this host names the folder, also by links and in files elsewhere that it includes.
named() {
  # shellcheck disable=SC2046,SC2086  # lists of names
  grep -RqsF "$folder" $places \
    $(grep -Rhsi '^[[:space:]]*include[[:space:]]\{1,\}/' $places | sed 's,^[^/]*,,; s,[[:space:]#].*,,')
}

# Whether the folder has more than the note: the files of the other package.
used() {
  [ -n "$(find "$folder" -mindepth 1 ! -path "$note" -print -quit 2> /dev/null)" ]
}

drop_note() {
  rm -f "$note"
  rmdir "$folder" /usr/lib/rubato 2> /dev/null || true
}
