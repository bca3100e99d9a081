@FOLDER@

# Whether this host has a slurm.conf at a known place. Without one, PluginDir is unknown.
configured() {
  # shellcheck disable=SC2086  # a list of names
  [ -n "$(find $places -name slurm.conf -print -quit 2> /dev/null)" ]
}

# Also at the end of an upgrade, where the files of the new package are there already, here or in another folder.
if used; then
  rm -f "$note"
elif configured && ! named; then
  drop_note
else
  [ -d "$folder" ] || keep_folder
  echo "$folder stays, empty, as PluginDir may name it. Remove it from PluginDir on all hosts, then delete it."
fi
