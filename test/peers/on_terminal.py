"""Runs a command on a terminal, answers its question, prints what the terminal showed, and ends as the command does.

Usage: on_terminal.py QUESTION ANSWER COMMAND...
"""
import os
import pty
import sys

question, answer, *command = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)
shown = b""
asked = False
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    shown += piece
    if not asked and question.encode() in shown:
        asked = True
        os.write(terminal, answer.encode() + b"\r")
_, status = os.waitpid(child, 0)
sys.stdout.write(shown.decode())
sys.exit(os.waitstatus_to_exitcode(status))
