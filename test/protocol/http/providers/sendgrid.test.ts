import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { World } from '../world.ts';
import { BODY, caught, MAIL, type Mail, Sendgrid } from './sendgrid-sdk.ts';

/** Applications that speak SendGrid's API, through its own unchanged SDK (contract-2 §C4). */

let world: World;
let key: string;
let sendgrid: Sendgrid;

beforeAll(async () => {
  // The SDK says on the console that the key is not one of SendGrid's.
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  world = await World.start();
  key = await world.key({ id: 'shop' });
  sendgrid = new Sendgrid(world, key);
});
afterAll(async () => {
  vi.restoreAllMocks();
  await world.close();
});

const ask = (body: object) => world.ask({ method: 'POST', path: '/v3/mail/send', key, body });
/** `recipients` of the newest messages, in order. */
const recipients = (count: number) =>
  world.intake.submissions
    .slice(-count)
    .map(({ envelope }) => envelope.recipients.map(({ address, kind }) => `${kind} ${address}`).join(', '));

describe('a mail', () => {
  test('is sent with all that SendGrid knows', async () => {
    const mail: Mail = {
      ...MAIL,
      to: ['bob@example.org', { name: 'Eve', email: 'eve@example.org' }],
      cc: 'Carl <carl@example.org>',
      bcc: ['bcc@example.org'],
      replyTo: { name: 'Desk', email: 'desk@example.com' },
      html: '<img src="cid:logo">',
      headers: { 'X-Order': '4711' },
      categories: ['receipt', 'shop'],
      customArgs: { order: '4711', count: 2 },
      attachments: [
        { filename: 'a.txt', content: Buffer.from('abc').toString('base64'), type: 'text/plain' },
        {
          filename: 'logo.png',
          content: Buffer.from('png').toString('base64'),
          type: 'image/png',
          disposition: 'inline',
          contentId: 'logo',
        },
      ],
    };
    const { status, body } = await sendgrid.send(mail);
    expect([status, body]).toEqual([202, '']);
    const { tags, metadata, header, door } = world.last;
    expect(door).toBe('sendgrid');
    expect(recipients(1)).toEqual([
      'to bob@example.org, to eve@example.org, cc carl@example.org, bcc bcc@example.org',
    ]);
    expect([tags, metadata]).toEqual([['receipt', 'shop'], { order: '4711', count: '2' }]);
    expect([header.from, header.subject]).toEqual(['Jane <jane@example.com>', 'Hello']);
    for (const part of ['Reply-To: Desk <desk@example.com>', 'X-Order: 4711', 'YWJj', 'Content-ID: <logo>'])
      expect(world.lastText).toContain(part);
    expect(world.lastText).not.toContain('bcc@example.org');
  });

  test('is found by its id, and is taken below /sendgrid too', async () => {
    const { id } = await sendgrid.send(MAIL, '/sendgrid');
    expect(id).toMatch(/^msg_/);
    const record = await world.ask({ path: `/api/v1/messages/${id}`, key });
    expect([record.status, record.json['status']]).toEqual([200, 'queued']);
  });

  test('waits until its time', async () => {
    const sendAt = Math.floor(world.clock.wall() / 1000) + 3600;
    await sendgrid.send({ ...MAIL, sendAt });
    expect(world.last.sendAt).toBe(sendAt * 1000);
  });

  test('may be replied to at several addresses, and name the content id as the API does', async () => {
    const body = {
      ...BODY,
      reply_to_list: [{ email: 'a@example.com' }, { email: 'b@example.com', name: 'Doe, B' }],
      attachments: [{ filename: 'a', content: 'YQ==', content_id: 'first', disposition: 'inline' }],
      content: [{ type: 'text/html', value: '<img src="cid:first">' }],
    };
    expect((await ask(body)).status).toBe(202);
    expect(world.lastText).toContain('Reply-To: a@example.com, "Doe, B" <b@example.com>');
    expect(world.lastText).toContain('Content-ID: <first>');
  });

  test('brings an invitation as a file', async () => {
    const invitation = { type: 'text/calendar; method=REQUEST', value: 'BEGIN:VCALENDAR' };
    expect((await ask({ ...BODY, content: [...BODY.content, invitation] })).status).toBe(202);
    expect(world.lastText).toMatch(/Content-Type: text\/calendar; method="?REQUEST/);
    expect(world.lastText).toContain('invite.ics');
  });

  test('is only checked in sandbox mode', async () => {
    const before = world.intake.submissions.length;
    const sandboxed = { ...MAIL, mailSettings: { sandboxMode: { enable: true } } };
    const { status, body } = await sendgrid.send(sandboxed);
    expect([status, body]).toEqual([200, '']);
    expect(await caught(sendgrid.send({ ...sandboxed, to: 'nobody' }))).toMatchObject({ code: 400 });
    expect(world.intake.submissions.length).toBe(before);
  });

  test('names what it ignores, and not what asks for nothing', async () => {
    await sendgrid.send({
      ...MAIL,
      asm: { groupId: 1, groupsToDisplay: [1] },
      ipPoolName: 'pool',
      batchId: 'batch',
      trackingSettings: { clickTracking: { enable: true }, openTracking: { enable: false } },
      mailSettings: { spamCheck: { enable: true, threshold: 1 }, footer: { enable: false } },
    });
    const body = {
      ...BODY,
      asm: { group_id: 1 },
      personalizations: [{ ...BODY.personalizations[0], dynamic_template_data: { name: 'Bob' } }],
      tracking_settings: { click_tracking: { enable: true }, ganalytics: { enable: false } },
    };
    const answer = await ask(body);
    expect([answer.status, answer.headers['x-waybill-ignored']]).toEqual([
      202,
      'asm, tracking_settings.click_tracking, personalizations.dynamic_template_data',
    ]);
  });

  test('has no tag for a picture that would tell of its opening', async () => {
    const open_tracking = { enable: true, substitution_tag: '%open%' };
    const content = [{ type: 'text/html', value: '<p>Hi.</p>%open%' }];
    const answer = await ask({ ...BODY, content, tracking_settings: { open_tracking } });
    expect([answer.status, answer.headers['x-waybill-ignored']]).toEqual([
      202,
      'tracking_settings.open_tracking',
    ]);
    expect(world.lastText).not.toContain('%open%');
  });

  test('passes the suppression list with a key that may', async () => {
    const mail = { ...MAIL, mailSettings: { bypassListManagement: { enable: true } } };
    const writer = await world.key({ id: 'writer', scopes: ['messages:send', 'suppressions:write'] });
    await new Sendgrid(world, writer).send(mail);
    expect(world.last.ignoresSuppression).toBe(true);
    expect(await caught(sendgrid.send(mail))).toMatchObject({ code: 403 });
  });
});

describe('personalizations', () => {
  test('are messages of their own, in one commit', async () => {
    const handed = vi.spyOn(world.intake, 'accept');
    await sendgrid.mail().sendMultiple({ ...MAIL, to: ['a@example.org', 'b@example.org', 'c@example.org'] });
    expect(recipients(3)).toEqual(['to a@example.org', 'to b@example.org', 'to c@example.org']);
    expect(handed).toHaveBeenCalledTimes(1);
    handed.mockRestore();
  });

  test('have what is their own, and the rest of the mail', async () => {
    const sendAt = Math.floor(world.clock.wall() / 1000) + 60;
    await sendgrid.send({
      ...MAIL,
      text: 'Dear {{name}}, {{greeting}}',
      html: '<p>{{name}}</p>',
      subject: 'For {{name}}',
      headers: { 'X-All': 'all', 'X-One': 'all' },
      customArgs: { campaign: 'spring', kind: 'all' },
      substitutions: { greeting: 'welcome.' },
      personalizations: [
        { to: 'a@example.org', substitutions: { name: '{{greeting}} & A' } },
        {
          to: 'b@example.org',
          cc: 'c@example.org',
          from: 'Own <own@example.com>',
          subject: 'Own {{name}}',
          substitutions: { name: 'B' },
          headers: { 'x-one': 'one' },
          customArgs: { kind: 'one' },
          sendAt,
        },
      ],
    });
    const [first, second] = world.intake.submissions.slice(-2);
    // What a value says is not replaced again.
    expect(first?.header.subject).toBe('For {{greeting}} & A');
    expect([first?.metadata, first?.sendAt]).toEqual([{ campaign: 'spring', kind: 'all' }, null]);
    expect(second?.header).toMatchObject({ from: 'Own <own@example.com>', subject: 'Own B' });
    expect([second?.metadata, second?.sendAt]).toEqual([{ campaign: 'spring', kind: 'one' }, sendAt * 1000]);
    for (const part of ['Dear B, welcome.', '<p>B</p>', 'X-All: all', 'x-one: one'])
      expect(world.lastText).toContain(part);
    expect(world.lastText).not.toContain('X-One: all');
  });

  test('are refused as a whole, with each fault once and its place', async () => {
    const before = world.intake.submissions.length;
    const error = await caught(
      sendgrid.send({
        ...MAIL,
        attachments: [{ filename: 'a', content: '=' }],
        personalizations: [{ to: 'a@example.org' }, { to: ['b@example.org', 'nobody'] }],
      }),
    );
    expect(error).toMatchObject({
      code: 400,
      response: {
        body: {
          errors: [
            { field: 'attachments.0.content', help: null },
            { field: 'personalizations.1.to.1.email', help: null },
          ],
        },
      },
    });
    expect(world.intake.submissions.length).toBe(before);
  });

  test('may not make much more of a request than it is', async () => {
    const [to] = BODY.personalizations;
    const long = { ...to, substitutions: { x: 'y'.repeat(1000) } };
    const text = [{ type: 'text/plain', value: 'x'.repeat(1000) }];
    const grown = await ask({ ...BODY, content: text, personalizations: [long] });
    expect([grown.status, grown.json.errors]).toMatchObject([413, [{ field: null }]]);
    const many = Array.from({ length: 5 }, () => to);
    const large = [{ type: 'text/plain', value: 'x'.repeat(120_000) }];
    expect((await ask({ ...BODY, content: large, personalizations: many })).status).toBe(413);
    // Little is left of the text; it is read all the same.
    const emptied = [{ type: 'text/plain', value: `left${'x'.repeat(90_000)}` }];
    const sent = [];
    for (const count of [5, 6]) {
      const personalizations = Array.from({ length: count }, () => ({ ...to, substitutions: { x: '' } }));
      sent.push((await ask({ ...BODY, content: emptied, personalizations })).status);
    }
    expect(sent).toEqual([202, 413]);
    const tags = { ...to, substitutions: { ['z'.repeat(2000)]: '' } };
    const slow = await ask({ ...BODY, content: large, personalizations: [tags] });
    expect([slow.status, slow.json.errors]).toMatchObject([
      400,
      [{ field: 'personalizations.0.substitutions' }],
    ]);
  });

  test('count against the messages of batches', async () => {
    world.options.limits.batchMessagesPerMinute = 2;
    const counted = await world.key({ id: 'counted' });
    const three = { ...MAIL, personalizations: ['a', 'b', 'c'].map((to) => ({ to: `${to}@example.org` })) };
    expect(await caught(new Sendgrid(world, counted).send(three))).toMatchObject({ code: 429 });
    await new Sendgrid(world, counted).send(MAIL);
    world.options.limits.batchMessagesPerMinute = 0;
  });
});

describe('an Idempotency-Key', () => {
  // The SDK sends headers of the message as those of the request, too.
  const under = (name: string, ...to: readonly string[]) => ({
    ...MAIL,
    headers: { 'Idempotency-Key': name },
    personalizations: to.map((one) => ({ to: `${one}@example.org` })),
  });
  test('sends once, and is not in the mail', async () => {
    for (const to of [['a'], ['a', 'b', 'c']]) {
      const mail = under(`once-${to.length}`, ...to);
      const { id } = await sendgrid.send(mail);
      const before = world.intake.submissions.length;
      expect(await sendgrid.send(mail)).toMatchObject({ id, replayed: true });
      expect(world.intake.submissions.length).toBe(before);
      expect(world.lastText).not.toMatch(/idempotency/i);
    }
  });

  test.each([
    [['a'], ['b']],
    [['a'], ['a', 'b']],
    [['a', 'b'], ['a']],
    [
      ['a', 'b'],
      ['a', 'c'],
    ],
    [
      ['a', 'b'],
      ['a', 'b', 'c'],
    ],
    [
      ['a', 'b', 'c'],
      ['a', 'b'],
    ],
  ])('for %j refuses %j', async (first, second) => {
    const name = `mismatch-${first.join('')}-${second.join('')}`;
    await sendgrid.send(under(name, ...first));
    const before = world.intake.submissions.length;
    expect(await caught(sendgrid.send(under(name, ...second)))).toMatchObject({ code: 409 });
    expect(world.intake.submissions.length).toBe(before);
  });
});

test('a key tells what it may do', async () => {
  expect(await sendgrid.ask('GET', '/v3/scopes')).toEqual([200, { scopes: ['mail.send'] }]);
  const reader = await world.key({ id: 'suppressor', scopes: ['suppressions:read', 'messages:read'] });
  const answer = await new Sendgrid(world, reader).ask('GET', '/v3/scopes');
  expect(answer).toEqual([200, { scopes: ['suppression.read'] }]);
});

test("other paths below /v3 are Mailgun's", async () => {
  const answer = await world.ask({ method: 'POST', path: '/v3/example.com/messages' });
  expect([answer.status, Object.keys(answer.json)]).toEqual([401, ['message']]);
});
