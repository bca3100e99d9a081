@FOLDER@
keep_folder
