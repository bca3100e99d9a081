# PluginDir may go on naming this folder, and Slurm's commands and daemons do not start without a folder that it names.
# So the folder is never missing while this package goes away: a file in it keeps dpkg from removing it.
folder=/usr/lib/rubato/slurm-@VERSION@
note=$folder/KEPT

keep_folder() {
  [ -d "$folder" ] || mkdir -p "$folder"
  cat > "$note" <<END
Rubato's plugins were removed. This folder stays because PluginDir of slurm.conf may name it: Slurm's commands and
daemons do not start if it is missing. Remove it from PluginDir on all hosts, then delete it.
END
}

# Whether Slurm's configuration on this host names the folder: files in /etc/slurm, or what slurmd got without one.
named() {
  grep -rqsF "$folder" /etc/slurm /run/slurm/conf /var/spool/slurmd/conf-cache ${SLURM_CONF:+"$SLURM_CONF"}
}

# Whether the folder has more than the note: the files of the other package.
used() {
  [ -n "$(find "$folder" -mindepth 1 ! -path "$note" -print -quit 2> /dev/null)" ]
}

drop_note() {
  rm -f "$note"
  rmdir "$folder" /usr/lib/rubato 2> /dev/null || true
}
