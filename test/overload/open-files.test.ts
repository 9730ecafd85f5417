/** More clients than the system gives the process files: who is there already is served, nothing breaks, and it passes. */
import { expect, test } from 'vitest';
import { Crowd } from './crowd.ts';
import { Siege } from './siege.ts';
import { sendData, smtpSession } from './uploads.ts';

/** Open files that the server may have, and clients that come. */
const FILES = 200;
const CLIENTS = 400;
/** So many messages of 25 MB want another file of the spool. */
const LARGE = 3;
const MINUTES = 60_000;

test('a server that may open no more files serves who is there, and takes all again later', {
  timeout: 10 * MINUTES,
}, async ({ onTestFinished }) => {
  const siege = await Siege.begin({}, ['prlimit', `--nofile=${FILES}:${FILES}`]);
  onTestFinished(() => siege.remove());
  const key = await siege.key('large', 0);
  const target = { api: siege.server.api, smtp: siege.smtp, key, from: '127.0.0.2' };
  const large = await smtpSession(target);
  // Meanwhile the good client keeps the connections that it has: for another one there will be no file.
  const crowd = await siege.good.sendDuring(Crowd.gather(CLIENTS, { port: siege.smtp, net: 60 }, () => {}));
  await expect.poll(() => siege.vitals.files).toBeGreaterThan(FILES - 30);
  await siege.good.send(5);
  // Whether another file of the spool can be opened depends on what is closed meanwhile.
  for (let sent = 0; sent < LARGE; sent++)
    expect(await sendData(large)).toMatch(/^250 .*queued as |^452 4\.3\.1 /);
  await crowd.leave();
  await expect.poll(() => sendData(large)).toMatch(/^250 .*queued as /);
  large.destroy();
  await siege.end();
});
