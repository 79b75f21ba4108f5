python loop.py
