import {
  DeleteSuppressedDestinationCommand,
  GetAccountCommand,
  GetSuppressedDestinationCommand,
  ListSuppressedDestinationsCommand,
  PutSuppressedDestinationCommand,
  SESv2Client,
  SendBulkEmailCommand,
  type SendBulkEmailCommandInput,
  SendEmailCommand,
  type SendEmailCommandInput,
} from '@aws-sdk/client-sesv2';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ApiKey } from '../../../../src/domain/key.ts';
import { linksFor, NO_LINKS } from '../../../support/unsubscribe-terms.ts';
import { World } from '../world.ts';

/** Applications that speak SES's API, through AWS's own unchanged SDK and nodemailer's transport (contract-2 §C6). */

type Credentials = { readonly accessKeyId: string; readonly secretAccessKey: string };

const EMAIL: SendEmailCommandInput = {
  FromEmailAddress: 'Jane <jane@example.com>',
  Destination: { ToAddresses: ['bob@example.org'] },
  Content: { Simple: { Subject: { Data: 'Hello' }, Body: { Text: { Data: 'Hi.' } } } },
};
const RAW =
  'From: Jane <jane@example.com>\r\nTo: bob@example.org\r\nBcc: eve@example.org\r\nSubject: Hi\r\n\r\nHi.\r\n';

let world: World;
let ses: SESv2Client;
let keys = 0;

beforeAll(async () => {
  world = await World.start({ epoch: Date.now() });
});
afterAll(() => world.close());
beforeEach(async () => {
  ses = client(await signer());
});

/** A key whose client signs. */
async function signer(facts: Partial<ApiKey> = {}): Promise<Credentials> {
  const accessKeyId = `WBAAAAAAAAAAAAAAAA${String(++keys).padStart(2, '0')}`;
  const secretAccessKey = `secret/${keys}`;
  await world.key({ id: `ses${keys}`, ...facts }, undefined, { id: accessKeyId, sealed: secretAccessKey });
  return { accessKeyId, secretAccessKey };
}

const client = (credentials: Credentials, below = '', more: object = {}) =>
  new SESv2Client({
    region: 'eu-central-1',
    endpoint: `http://127.0.0.1:${world.port}${below}`,
    credentials,
    maxAttempts: 1,
    ...more,
  });
/** From now on commands are tried again, and the first answer is lost; gives how many tries there were. */
async function losingOneAnswer(): Promise<() => number> {
  ses = client(await signer(), '', { maxAttempts: 3 });
  const { requestHandler } = ses.config;
  const handle = requestHandler.handle.bind(requestHandler);
  let tries = 0;
  requestHandler.handle = async (...request) => {
    const answer = await handle(...request);
    if (++tries === 1) throw Object.assign(new Error('the answer is lost'), { name: 'TimeoutError' });
    return answer;
  };
  return () => tries;
}

const send = (input: Partial<SendEmailCommandInput>) =>
  ses.send(new SendEmailCommand({ ...EMAIL, ...input }));
const recipients = () => world.last.envelope.recipients.map(({ address, kind }) => `${kind} ${address}`);

describe('an email', () => {
  test('is sent with all that SES knows', async () => {
    const { MessageId } = await send({
      Destination: {
        ToAddresses: ['bob@example.org', 'Eve <eve@example.org>'],
        CcAddresses: ['cc@example.org'],
        BccAddresses: ['bcc@example.org'],
      },
      ReplyToAddresses: ['help@example.com'],
      FeedbackForwardingEmailAddress: 'bounces@example.com',
      EmailTags: [{ Name: 'kind', Value: 'receipt' }],
      Content: {
        Simple: {
          Subject: { Data: 'Grüße', Charset: 'UTF-8' },
          Body: { Text: { Data: 'Hi.' }, Html: { Data: '<img src="cid:logo">' } },
          Headers: [{ Name: 'X-Order', Value: '4711' }],
          Attachments: [
            { FileName: 'a.txt', RawContent: Buffer.from('abc') },
            {
              FileName: 'logo.png',
              RawContent: Buffer.from('png'),
              ContentType: 'image/png',
              ContentId: 'logo',
              ContentDisposition: 'INLINE',
            },
          ],
        },
      },
    });
    expect(MessageId).toMatch(/^msg_[0-9a-z]{26}$/);
    expect(recipients()).toEqual([
      'to bob@example.org',
      'to eve@example.org',
      'cc cc@example.org',
      'bcc bcc@example.org',
    ]);
    const { tags, header, envelope, door } = world.last;
    expect(door).toBe('ses');
    expect([tags, header.subject, envelope.reversePath]).toEqual([
      ['kind:receipt'],
      'Grüße',
      'bounces@example.com',
    ]);
    for (const part of [
      'Reply-To: help@example.com',
      'X-Order: 4711',
      'YWJj',
      'Content-ID: <logo>',
      'inline',
    ])
      expect(world.lastText).toContain(part);
    expect(world.lastText).not.toContain('bcc@example.org');
  });

  test('that is finished goes as it is, to the destination or whom it names itself', async () => {
    const Content = { Raw: { Data: Buffer.from(RAW) } };
    await ses.send(new SendEmailCommand({ Content }));
    expect(recipients()).toEqual(['to bob@example.org', 'to eve@example.org']);
    expect(world.last.envelope.reversePath).toBe('jane@example.com');
    expect(world.lastText).toContain('\r\nTo: bob@example.org\r\nSubject: Hi\r\n');
    expect(world.lastText).not.toContain('eve@');
    const lines = { Raw: { Data: Buffer.from(RAW.replaceAll('\r\n', '\n')) } };
    await ses.send(new SendEmailCommand({ Content: lines }));
    expect(recipients()).toEqual(['to bob@example.org', 'to eve@example.org']);
    expect(world.lastText).toContain('\r\nTo: bob@example.org\r\nSubject: Hi\r\n');
    await send({ Content, Destination: { ToAddresses: ['a@example.org'], BccAddresses: ['b@example.org'] } });
    expect(recipients()).toEqual(['to a@example.org', 'to b@example.org']);
  });

  test('of a template has its values, which HTML cannot take for markup', async () => {
    await send({
      Content: {
        Template: {
          TemplateContent: {
            Subject: 'For {{name}}',
            Text: 'Order {{order.id}}, {{ name }}.',
            Html: '<p>{{name}} {{{mark}}}</p>',
          },
          TemplateData: JSON.stringify({ name: 'A & <B>', order: { id: 7 }, mark: '<b>!</b>' }),
        },
      },
    });
    expect(world.last.header.subject).toBe('For A & <B>');
    expect(world.lastText).toContain('Order 7, A & <B>.');
    expect(world.lastText).toContain('<p>A &amp; &lt;B&gt; <b>!</b></p>');
  });

  test('is sent the same below /ses, and in any region', async () => {
    ses = client(await signer(), '/ses', { region: 'us-gov-east-1' });
    expect((await send({})).MessageId).toMatch(/^msg_/);
  });

  test('is sent once, however often a command is tried', async () => {
    const before = world.intake.submissions.length;
    const tries = await losingOneAnswer();
    const { MessageId } = await send({});
    expect([tries(), world.intake.submissions.length - before]).toEqual([2, 1]);
    const record = await world.stores.views.message(MessageId ?? '');
    expect(record?.message.id).toBe(MessageId);
  });

  test('can be unsubscribed from by topic, where links can be made', async () => {
    world.unsubscribing = linksFor('example.com');
    await send({ ListManagementOptions: { ContactListName: 'all', TopicName: 'news' } });
    world.unsubscribing = NO_LINKS;
    expect([world.last.stream, world.lastText.includes('List-Unsubscribe-Post:')]).toEqual(['news', true]);
  });

  test('names what it ignores', async () => {
    const answers: Record<string, string>[] = [];
    ses.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        answers.push((result.response as { headers: Record<string, string> }).headers);
        return result;
      },
      { step: 'deserialize', priority: 'low', name: 'seen' },
    );
    await send({
      ConfigurationSetName: 'main',
      ListManagementOptions: { ContactListName: 'all', TopicName: 'news' },
    });
    expect(answers.map((headers) => headers['x-waybill-ignored'])).toEqual([
      'ConfigurationSetName, ListManagementOptions',
    ]);
    expect(answers[0]?.['x-amzn-requestid']).toBe(answers[0]?.['x-request-id']);
  });
});

describe('nodemailer', () => {
  test('sends by SES’s transport', async () => {
    const transport = createTransport({ SES: { sesClient: ses, SendEmailCommand } });
    const info = await transport.sendMail({
      from: 'Jane <jane@example.com>',
      to: 'bob@example.org',
      bcc: 'eve@example.org',
      subject: 'Hello',
      text: 'Hi.',
    });
    expect(info.messageId).toMatch(/^<msg_[0-9a-z]{26}@eu-central-1\.amazonses\.com>$/);
    expect(recipients()).toEqual(['to bob@example.org', 'to eve@example.org']);
  });

  test('finds its access verified by a refusal, and nothing is sent', async () => {
    const before = world.intake.submissions.length;
    const transport = createTransport({ SES: { sesClient: ses, SendEmailCommand } });
    expect(await transport.verify()).toBe(true);
    expect(world.intake.submissions.length).toBe(before);
    const wrong = client({ accessKeyId: 'WBNONE', secretAccessKey: 'x' });
    const unknown = createTransport({ SES: { sesClient: wrong, SendEmailCommand } });
    await expect(unknown.verify()).rejects.toThrow('The security token included in the request is invalid.');
  });
});

describe('mail in bulk', () => {
  const BULK: SendBulkEmailCommandInput = {
    FromEmailAddress: 'jane@example.com',
    DefaultEmailTags: [{ Name: 'kind', Value: 'news' }],
    DefaultContent: {
      Template: {
        TemplateContent: { Subject: 'Hi {{name}}', Text: 'You live in {{city}}.' },
        TemplateData: '{"city": "Rome"}',
      },
    },
    BulkEmailEntries: [],
  };
  const entry = (address: string, data: object) => ({
    Destination: { ToAddresses: [address] },
    ReplacementEmailContent: { ReplacementTemplate: { ReplacementTemplateData: JSON.stringify(data) } },
  });
  const sendBulk = (input: Partial<SendBulkEmailCommandInput>) =>
    ses.send(new SendBulkEmailCommand({ ...BULK, ...input }));

  test('has for each destination its own values, headers and tags', async () => {
    const before = world.intake.submissions.length;
    const { BulkEmailEntryResults } = await sendBulk({
      BulkEmailEntries: [
        entry('ann@example.org', { name: 'Ann' }),
        {
          ...entry('bob@example.org', { name: 'Bob', city: 'Bonn' }),
          ReplacementHeaders: [{ Name: 'X-Order', Value: '2' }],
          ReplacementTags: [{ Name: 'kind', Value: 'other' }],
        },
      ],
    });
    expect(BulkEmailEntryResults?.map(({ Status }) => Status)).toEqual(['SUCCESS', 'SUCCESS']);
    const [ann, bob] = world.intake.submissions.slice(before);
    expect([ann?.header.subject, ann?.tags]).toEqual(['Hi Ann', ['kind:news']]);
    expect([bob?.header.subject, bob?.tags]).toEqual(['Hi Bob', ['kind:other']]);
    expect(world.lastText).toContain('You live in Bonn.');
    expect(world.lastText).toContain('X-Order: 2');
  });

  test('refuses each entry by itself', async () => {
    const { BulkEmailEntryResults: results } = await sendBulk({
      BulkEmailEntries: [
        entry('nobody', { name: 'Ann' }),
        entry('bob@example.org', { name: 'Bob' }),
        entry('eve@example.org', {}),
        entry('x@invalid', { name: 'X' }),
      ],
    });
    expect(results?.map(({ Status }) => Status)).toEqual([
      'INVALID_PARAMETER',
      'SUCCESS',
      'INVALID_PARAMETER',
      'MESSAGE_REJECTED',
    ]);
    expect(results?.[0]?.Error).toMatch(/^BulkEmailEntries\[0\]\.Destination\.ToAddresses\[0\]: /);
    expect(results?.[2]?.Error).toMatch(/Attribute 'name' is not present/);
  });

  test('is sent once, however often a command is tried', async () => {
    const tries = await losingOneAnswer();
    const before = world.intake.submissions.length;
    const BulkEmailEntries = ['a', 'b'].map((name) => entry(`${name}@example.org`, { name }));
    const { BulkEmailEntryResults } = await sendBulk({ BulkEmailEntries });
    expect(BulkEmailEntryResults?.map(({ Status }) => Status)).toEqual(['SUCCESS', 'SUCCESS']);
    expect([tries(), world.intake.submissions.length - before]).toEqual([2, 2]);
  });

  test('counts for the rate of batches', async () => {
    world.options.limits.batchMessagesPerMinute = 1;
    const BulkEmailEntries = ['a', 'b'].map((name) => entry(`${name}@example.org`, { name }));
    await expect(sendBulk({ BulkEmailEntries })).rejects.toMatchObject({ name: 'TooManyRequestsException' });
    world.options.limits.batchMessagesPerMinute = 0;
  });

  test('of a template that is not here is refused as a whole', async () => {
    const DefaultContent = { Template: { TemplateName: 'welcome', TemplateData: '{}' } };
    const BulkEmailEntries = [entry('ann@example.org', {})];
    await expect(sendBulk({ DefaultContent, BulkEmailEntries })).rejects.toMatchObject({
      name: 'NotFoundException',
    });
  });
});

test('the account tells what may be sent, and what was', async () => {
  ses = client(await signer({ rateLimit: 120 }));
  await send({});
  expect(await ses.send(new GetAccountCommand({}))).toMatchObject({
    SendingEnabled: true,
    ProductionAccessEnabled: true,
    EnforcementStatus: 'HEALTHY',
    SendQuota: { Max24HourSend: -1, MaxSendRate: 2 },
  });
});

test('suppressed addresses are added, shown, listed and removed', async () => {
  ses = client(await signer({ scopes: ['suppressions:read', 'suppressions:write'] }));
  const [ann, bob] = ['ann+1@example.org', 'bob@example.org'];
  await ses.send(new PutSuppressedDestinationCommand({ EmailAddress: ann, Reason: 'BOUNCE' }));
  await ses.send(new PutSuppressedDestinationCommand({ EmailAddress: bob, Reason: 'COMPLAINT' }));
  const shown = await ses.send(new GetSuppressedDestinationCommand({ EmailAddress: ann }));
  expect(shown.SuppressedDestination).toMatchObject({
    EmailAddress: ann,
    Reason: 'BOUNCE',
    LastUpdateTime: new Date(world.clock.wall()),
  });
  const list = async (input: object) =>
    (await ses.send(new ListSuppressedDestinationsCommand(input))).SuppressedDestinationSummaries?.map(
      ({ EmailAddress, Reason }) => `${EmailAddress} ${Reason}`,
    );
  expect(await list({})).toEqual([`${bob} COMPLAINT`, `${ann} BOUNCE`]);
  expect(await list({ Reasons: ['BOUNCE'] })).toEqual([`${ann} BOUNCE`]);
  expect(await list({ StartDate: new Date(world.clock.wall() + 60_000) })).toEqual([]);
  const first = await ses.send(new ListSuppressedDestinationsCommand({ PageSize: 1 }));
  expect(await list({ NextToken: first.NextToken })).toEqual([`${ann} BOUNCE`]);
  for (const EmailAddress of [ann, bob]) {
    await ses.send(new DeleteSuppressedDestinationCommand({ EmailAddress }));
    await expect(ses.send(new GetSuppressedDestinationCommand({ EmailAddress }))).rejects.toMatchObject({
      name: 'NotFoundException',
      $metadata: { httpStatusCode: 404 },
    });
  }
});
