echo hello
python evaluate.py --task wikitext
