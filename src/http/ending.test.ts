import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { type Clock, systemClock } from '../lib/clock.ts';
import { lingeringClose } from './ending.ts';

/** Two ends of a connection. */
async function connection(): Promise<{ client: Socket; server: Socket }> {
  const listener = createServer({ pauseOnConnect: true });
  onTestFinished(() => void listener.close());
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const client = connect((listener.address() as AddressInfo).port, '127.0.0.1');
  const [server] = (await once(listener, 'connection')) as [Socket];
  return { client, server };
}

test('a peer whose bytes wait to be read is not silent, however long the event loop was held up', async () => {
  const { client, server } = await connection();
  await new Promise((resolve) => client.write('the rest of a request', resolve));
  let sleeps = 0;
  // The first wait is over before anything could be read: the loop is held up until then.
  const clock: Clock = {
    ...systemClock,
    sleep: (ms, signal) => {
      if (++sleeps > 1) return systemClock.sleep(ms, signal);
      const until = performance.now() + 20;
      const over = systemClock.sleep(1);
      while (performance.now() < until);
      return over;
    },
  };
  server.write('an answer');
  let answer = '';
  client.setEncoding('utf8').on('data', (text: string) => {
    answer += text;
  });
  const closed = once(client, 'close');
  await lingeringClose(server, clock);
  await closed;
  expect([answer, sleeps]).toEqual(['an answer', 2]);
});
