echo hello
python count_words.py --task wikitext
