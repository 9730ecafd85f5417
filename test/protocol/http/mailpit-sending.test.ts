import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { attempt, CAPTURED, DEFERRED } from './deliver.ts';
import { type Answer, type Ask, World } from './world.ts';

/** Sending by Mailpit's API. */

let world: World;
let key: string;

beforeEach(async () => {
  world = await World.start();
  key = await world.key({ id: 'tests', mode: 'test' });
});
afterEach(() => world.close());

const basic = (user: string) => `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`;
const ask = (path: string, user: string, more: Ask = {}): Promise<Answer> =>
  world.ask({ path: `/mailpit${path}`, headers: { Authorization: basic(user) }, ...more });
const list = async (user: string) => {
  const { json } = await ask('/api/v1/messages', user);
  return json as { total: number; messages: readonly { ID: string }[] };
};

describe('mail that is sent', () => {
  const MAILPIT = {
    From: { Email: 'shop@example.com', Name: 'Shop' },
    To: [{ Email: 'bob@example.org', Name: '' }],
    Subject: 'Hello',
    Text: 'Hi.',
  };
  const send = (body: object, user = 'tests') => ask('/api/v1/send', user, { method: 'POST', body });
  async function sent(body: object, user?: string): Promise<Answer> {
    const answer = send(body, user);
    await expect.poll(() => world.intake.submissions.length).toBe(1);
    await attempt(world, CAPTURED);
    return await answer;
  }

  test('is refused with a sentence for each fault', async () => {
    const { json } = await send({ ...MAILPIT, Headers: { 'Content-Type': 'text/html' }, Tags: [''] });
    expect(json['Error']).toMatch(/Headers\.Content-Type: .+\. Tags\[0\]: /);
    expect(json['Error']).not.toContain('.;');
  });

  test('lies in its box when the answer comes', async () => {
    const answer = await sent(MAILPIT, 'worker-1');
    expect([answer.status, answer.json]).toEqual([200, { ID: expect.stringMatching(/^msg_/) }]);
    expect(world.last).toMatchObject({ box: 'worker-1', test: true, source: 'api' });
    expect((await list('worker-1')).messages).toMatchObject([{ ID: answer.json['ID'] }]);
  });

  test('may be empty, as with Mailpit', async () => {
    await sent({ from: MAILPIT.From, to: MAILPIT.To });
    expect(world.last).toMatchObject({ header: { from: 'Shop <shop@example.com>', subject: '' } });
  });

  test('is answered for though the capture takes long', async () => {
    const answer = send(MAILPIT);
    await expect.poll(() => world.intake.submissions.length).toBe(1);
    let done = false;
    void answer.then(() => {
      done = true;
    });
    const isDone = async () => {
      await world.clock.advance(1000);
      return done;
    };
    await expect.poll(isDone).toBe(true);
    expect((await answer).status).toBe(200);
  });

  test('is answered for at once if a recipient is tried again later', async () => {
    const answer = send(MAILPIT);
    await expect.poll(() => world.intake.submissions.length).toBe(1);
    await attempt(world, DEFERRED);
    expect((await answer).status).toBe(200);
    expect((await list('tests')).total).toBe(0);
  });

  test.each<[object, string]>([
    [{ From: null }, 'From'],
    [{ To: [{ Email: 'nobody' }] }, 'To[0]'],
    [{ To: [] }, 'To'],
    [{ Cc: [{ Email: 'a@example.org' }, { Email: '' }] }, 'Cc[1]'],
    [{ Bcc: ['x y'] }, 'Bcc[0]'],
    [{ Headers: { 'Content-Type': 'text/html' } }, 'Headers.Content-Type'],
    [{ Headers: { A: 1 } }, 'Headers.A'],
    [{ Tags: [''] }, 'Tags[0]'],
    [{ Attachments: [{ Content: '%%%', Filename: 'a' }] }, 'Attachments[0].Content'],
    [{ Attachments: [{ Content: 'aGk=', ContentType: 'x', Filename: 'a' }] }, 'Attachments[0].ContentType'],
    [{ Extra: 1 }, 'Extra'],
    [{ Subject: 'a\r\nb' }, 'Subject'],
  ])('is refused: %j', async (change, field) => {
    const answer = await send({ ...MAILPIT, ...change });
    expect([answer.status, answer.json['Error']]).toEqual([400, expect.stringContaining(`${field}: `)]);
    expect(world.intake.submissions).toEqual([]);
  });
});
