/** What is asked for on a terminal. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { describeWith } from '../peers/need.ts';
import { MAIN } from '../peers/server.ts';
import { installed } from './service.ts';

const RUNNER = fileURLToPath(new URL('../peers/on_terminal.py', import.meta.url));

/** Runs a command on a terminal: what that showed, and the exit status. */
function onTerminal(question: string, answer: string, args: readonly string[]): Promise<[string, number]> {
  const command = [RUNNER, question, answer, process.execPath, MAIN, ...args];
  return new Promise((resolve) => {
    execFile('python3', command, (error, stdout) => {
      resolve([stdout, error === null ? 0 : Number(error.code)]);
    });
  });
}

describeWith(['python3'], 'on a terminal', () => {
  test("a provider's secret is asked for, and not shown", async (context) => {
    const { dataDir } = installed(context, '');
    const add = ['relays', 'add', 'pm', '--type', 'postmark', '--default', '--data', dataDir];
    const [shown, status] = await onTerminal('Server token: ', 'pm-unseen-token', add);
    expect([shown, status]).toEqual([expect.stringContaining('Added pm.'), 0]);
    expect(shown).not.toContain('unseen');
    const control = ['relays', 'add', 'p2', '--type', 'postmark', '--data', dataDir];
    // The end of the input, and an interruption.
    for (const key of ['\u0004', '\u0003'])
      expect(await onTerminal('Server token: ', key, control)).toEqual([
        expect.stringContaining('Nothing was entered, and nothing was done.'),
        1,
      ]);
  });
});
