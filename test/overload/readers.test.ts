/** Clients that ask and read nothing of the answers: what they are owed is bounded, and they are cut off. */
import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { Visitor } from '../e2e/visitor.ts';
import { tell, times } from '../support/proof.ts';
import { Crowd } from './crowd.ts';
import { PASSWORD, Siege } from './siege.ts';
import { sendData, smtpSession } from './uploads.ts';

const READERS = times('overload_readers', 24);
/** Requests that each of them makes at once. */
const AHEAD = 16;
/** Streams that one session may have. */
const STREAMS = 8;
/** MiB that clients may leave unread, on each port. */
const UNSENT = 16;
/** MiB that work, and garbage for a while, take besides. */
const WORK = 192;
const MINUTES = 60_000;
const SETTINGS = {
  api: 'body_timeout_seconds: 5, keep_alive_seconds: 5',
  limits: `max_unsent_bytes: ${UNSENT * 1024 * 1024}`,
};

/** A visitor's streams of hints and exports, and the source of a message, unread. */
async function unreadOf({ server }: Siege, id: string): Promise<IncomingMessage[]> {
  const visitor = await Visitor.signIn(server, 'admin', PASSWORD);
  const paths = ['/api/events', '/api/export?query=&format=json', `/api/messages/${id}/source`];
  const asked = paths.flatMap((path) => Array.from({ length: STREAMS }, () => visitor.ask(server, path)));
  return await Promise.all(asked);
}

test(`${READERS} readers of lists and contents who read nothing, and those of the dashboard`, {
  timeout: 10 * MINUTES,
}, async ({ onTestFinished }) => {
  const siege = await Siege.begin(SETTINGS);
  onTestFinished(() => siege.remove());
  await siege.good.send(30);
  const key = await siege.key('reader', 0);
  const { api = 0 } = { api: siege.server.runtime.api ?? 0 };
  const session = await smtpSession({ api: '', smtp: siege.smtp, key, from: '127.0.70.1' });
  const [id = ''] = /msg_\w{26}/.exec(await sendData(session)) ?? [];
  session.destroy();
  siege.vitals.forgetPeak();
  const request = (path: string) =>
    `GET /api/v1/messages${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  const paths = ['?all=true&limit=100', `/${id}/content`];
  const crowd = await Crowd.gather(READERS, { port: api, net: 71 }, ({ socket }, place) => {
    socket.pause();
    socket.write(request(paths[place % paths.length] ?? '').repeat(AHEAD));
  });
  const unread = await unreadOf(siege, id);
  for (const answer of unread) expect(answer.statusCode).toBe(200);
  await siege.good.send(10);
  // They read on only now: what was in the kernel's hands comes, and then the end.
  await expect
    .poll(() => siege.vitals.sockets, { timeout: 2 * MINUTES })
    .toBeLessThan(siege.vitals.idleSockets + 40);
  const most = siege.vitals.peakMiB;
  for (const { socket } of crowd.members) socket.resume();
  await crowd.ended();
  for (const answer of unread) answer.destroy();
  await siege.end();
  tell(
    'answers that nobody reads',
    { 'requests of readers that do not read': READERS * AHEAD, 'streams of the dashboard': unread.length },
    { 'MiB at most': most, 'MiB before': siege.vitals.idleMiB, 'open files after': siege.vitals.files },
  );
  expect(most - siege.vitals.idleMiB).toBeLessThan(2 * UNSENT + WORK);
});
