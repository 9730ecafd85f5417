import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

/** Asks a question on this process's terminal and reads a line without showing it; null where there is no terminal. */
export async function askUnseen(question: string): Promise<string | null> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY) return null;
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  // Terminal: true takes the echo from the system's hands; what is echoed instead goes nowhere.
  const reader = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 });
  try {
    const answered = new Promise<string>((resolve) => {
      // Whoever leaves without an answer has entered nothing.
      reader.once('line', resolve).once('close', () => resolve(''));
    });
    // Not before the echo is off: what is typed ahead is not shown either.
    stderr.write(question);
    return await answered;
  } finally {
    reader.close();
    stderr.write('\n');
  }
}
