/** Clients that ask and read nothing of the answers: what they are owed is bounded, and they are cut off. */
import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { Visitor } from '../e2e/visitor.ts';
import { tell, times } from '../support/proof.ts';
import { Crowd } from './crowd.ts';
import { PASSWORD, Siege } from './siege.ts';
import { LARGE, sendData, smtpSession } from './uploads.ts';

const READERS = times('overload_readers', 24);
/** Requests that each of them makes at once. */
const AHEAD = 16;
/** Streams that one session may have. */
const STREAMS = 8;
/** Of unread sources of a large message, so many must be cut off: that takes the minute that the dashboard gives. */
const SOURCES = times('overload_sources', 0);
/** Where readers of the API are, at one address or more, and the visitor of the dashboard. */
const READERS_NET = 71;
const READERS_FROM = `127.0.${READERS_NET}.`;
const VISITOR_FROM = '127.0.0.1';
/** MiB that clients may leave unread, on each port. */
const UNSENT = 16;
/** MiB that work, and garbage for a while, take besides. */
const WORK = 192;
const MINUTES = 60_000;
const SETTINGS = {
  api: 'body_timeout_seconds: 5, keep_alive_seconds: 5',
  limits: `max_unsent_bytes: ${UNSENT * 1024 * 1024}`,
};

/** A visitor's streams of hints and exports, which are short, and the source of a large message, unread. */
async function unreadOf({ server }: Siege, id: string) {
  const visitor = await Visitor.signIn(server, 'admin', PASSWORD);
  const ask = (path: string) => Promise.all(Array.from({ length: STREAMS }, () => visitor.ask(server, path)));
  const short = [...(await ask('/api/events')), ...(await ask('/api/export?query=&format=json'))];
  return { short, large: await ask(`/api/messages/${id}/source`) };
}

/** How often the server says that it has ended a connection from there, of which nothing was read. */
function cutOff({ server }: Siege, source: string): number {
  const lines = server.output.split('\n').filter((line) => line.includes('http.answer_not_read'));
  return lines.filter((line) => line.includes(source)).length;
}

/** Reads the rest of an answer; whether it came to its end. */
async function readOn(answer: IncomingMessage): Promise<boolean> {
  answer.resume();
  if (!answer.closed) await new Promise((resolve) => answer.once('close', resolve));
  return answer.complete;
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
  const crowd = await Crowd.gather(READERS, { port: api, net: READERS_NET }, ({ socket }, place) => {
    socket.pause();
    socket.write(request(paths[place % paths.length] ?? '').repeat(AHEAD));
  });
  const { short, large } = await unreadOf(siege, id);
  const unread = [...short, ...large];
  for (const answer of unread) expect(answer.statusCode).toBe(200);
  await siege.good.send(10);
  // Of each kind those are cut off whom the kernel cannot give everything; lists, hints and exports are shorter.
  const ofContents = crowd.members.filter((_, place) => place % paths.length === 1);
  const patience = { timeout: 2 * MINUTES };
  await expect.poll(() => cutOff(siege, READERS_FROM), patience).toBeGreaterThanOrEqual(ofContents.length);
  await expect.poll(() => cutOff(siege, VISITOR_FROM), patience).toBeGreaterThanOrEqual(SOURCES);
  const most = siege.vitals.peakMiB;
  // They read on only now: what was in the kernel's hands comes, and then the end.
  for (const { socket } of crowd.members) socket.resume();
  await crowd.ended();
  const read = ofContents.map(({ socket }) => socket.bytesRead);
  expect(Math.max(...read), 'bytes of answers, each of which is longer').toBeLessThan(LARGE);
  const cut = large.slice(0, SOURCES);
  expect(await Promise.all(cut.map(readOn)), 'whether the source came whole').toEqual(cut.map(() => false));
  for (const answer of [...short, ...large]) answer.destroy();
  await siege.end();
  expect(most - siege.vitals.idleMiB).toBeLessThan(2 * UNSENT + WORK);
  tell(
    'answers that nobody reads',
    { 'requests of readers that do not read': READERS * AHEAD, 'streams of the dashboard': unread.length },
    { 'MiB at most': most, 'MiB before': siege.vitals.idleMiB, 'open files after': siege.vitals.files },
  );
});
