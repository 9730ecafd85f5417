/** The real process, started on what a power cut left. */
import { expect, type TestContext } from 'vitest';
import { Installation } from '../../peers/server.ts';
import { startSmtpSink } from '../../peers/smtp-sink.ts';
import { Book, messagesIn, readStore, untilAllIsFinal } from '../book.ts';
import { LETTER } from '../customer.ts';
import { refuseNobody } from '../nobody.ts';
import type { Found } from './disk.ts';
import { configurationFor, type Recording } from './recording.ts';
import { layOut, type Promises } from './survivor.ts';

/** Starts it, lets it bring all to an end, and holds that nothing acknowledged is lost and no second copy goes unflagged. */
export async function expectGoesOn(
  found: Found,
  promises: Promises,
  { key, letters }: Recording,
  { onTestFinished }: TestContext,
): Promise<void> {
  const sink = await startSmtpSink({ script: { RCPT: refuseNobody } });
  const book = new Book();
  void book.follow('sink', sink);
  const configuration = configurationFor(sink.port, sink.port);
  const installation = new Installation(configuration);
  onTestFinished(async () => {
    installation.remove();
    await sink.close();
  });
  layOut(found, installation.dataDir);
  installation.configure(configuration);
  const server = await installation.start();
  if (promises.accepted.size > 0) await untilAllIsFinal(server, key);
  expect(await server.end('SIGTERM')).toBe(0);
  const stored = await readStore(installation.dataDir, messagesIn);
  for (const id of promises.accepted) {
    const letter = letters.get(id);
    if (letter === undefined) throw new Error(`${id} was acknowledged to nobody`);
    expect(stored.get(id)?.status, id).toBe(letter.refused ? 'failed' : 'delivered');
    const before = promises.sent.has(id);
    for (const address of LETTER.to) {
      const now = book.has(letter.subject, address);
      expect(before || now, `${id} to ${address} arrived`).toBe(true);
      if (before && now && letter.alwaysTaken)
        expect(stored.get(id)?.possibleDuplicate, `${id} to ${address} came twice`).toBe(true);
    }
  }
}
