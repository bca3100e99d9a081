@FOLDER@
rm -f "$note"
