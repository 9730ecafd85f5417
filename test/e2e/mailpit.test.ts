/**
 * Test suites that were made for Mailpit, on the real server by one changed URL (contract-2 §G2): the unchanged packages
 * `mailpit-api` and `cypress-mailpit`. Cypress itself and its browser are too large for this; the commands need of it
 * only requests and chains (test/peers/cypress).
 */

import { MailpitClient, type MailpitMessagesSummaryResponse } from 'mailpit-api';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { standInForCypress } from '../peers/cypress/chain.ts';
import { createKey, type Service, startService } from './service.ts';

let service: Service;
let key: string;

beforeAll(async () => {
  service = await startService(`
api: { port: 0, bind: ["127.0.0.1"], rate_limit_per_key: 0 }
webui: { port: null }
listener: { ports: [0], bind: ["127.0.0.1"], allow_insecure_auth: true }
`);
  key = await createKey(service.installation, 'tests', '--test');
}, 60_000);
afterAll(() => service.stop());

const root = () => `${service.server.api}/mailpit`;

describe('mailpit-api', () => {
  const client = (username = 'suite', password = key) =>
    new MailpitClient(root(), { auth: { username, password } });
  let mailpit: MailpitClient;
  beforeEach(async () => {
    mailpit = client();
    await mailpit.deleteMessages();
  });

  const PICTURE = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64');
  const MAIL = {
    From: { Email: 'sender@example.com', Name: 'Sender, "the" Näme' },
    To: [{ Email: 'jane@example.org', Name: 'Jane Doe' }],
    Cc: [{ Email: 'cc@example.org', Name: 'Copy' }],
    Bcc: ['bcc@example.org'],
    ReplyTo: [{ Email: 'help@example.com', Name: 'Help' }],
    Subject: 'Grüße with attachments',
    Text: 'Your code is 135790.',
    HTML: '<p>Your code is <b>135790</b>. <img src="cid:logo"></p>',
    Headers: { 'List-Unsubscribe': '<mailto:off@example.com>, <https://example.com/off>', 'X-Order': '4711' },
    Tags: ['Orders', 'news'],
    Attachments: [
      { Content: Buffer.from('hello').toString('base64'), Filename: 'a.txt' },
      {
        Content: `data:image/png;base64,${PICTURE}`,
        Filename: 'logo.png',
        ContentID: 'logo',
        ContentType: 'image/png',
      },
    ],
  };

  test('sends a message, and has it as it was sent', async () => {
    const { ID } = await mailpit.sendMessage(MAIL);
    const list = await mailpit.listMessages();
    expect(list).toMatchObject({
      total: 1,
      unread: 1,
      count: 1,
      messages_count: 1,
      messages_unread: 1,
      start: 0,
    });
    expect(list.tags).toEqual(['Orders', 'news']);
    const from = { Name: 'Sender, "the" Näme', Address: 'sender@example.com' };
    const people = {
      From: from,
      To: [{ Name: 'Jane Doe', Address: 'jane@example.org' }],
      Cc: [{ Name: 'Copy', Address: 'cc@example.org' }],
      Bcc: [{ Name: '', Address: 'bcc@example.org' }],
      ReplyTo: [{ Name: 'Help', Address: 'help@example.com' }],
    };
    expect(list.messages).toEqual([
      {
        ID,
        MessageID: expect.stringMatching(/^[^<>]+@[^<>]+$/),
        Read: false,
        ...people,
        Subject: MAIL.Subject,
        Created: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        Username: 'suite',
        Tags: MAIL.Tags,
        Size: expect.any(Number),
        Attachments: 1,
        Snippet: 'Your code is 135790.',
      },
    ]);
    const message = await mailpit.getMessageSummary();
    const checksums = {
      MD5: '5d41402abc4b2a76b9719d911017c592',
      SHA1: 'aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d',
      SHA256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
    };
    expect(message).toEqual({
      ID,
      MessageID: list.messages[0]?.MessageID,
      ...people,
      ReturnPath: 'sender@example.com',
      Subject: MAIL.Subject,
      ListUnsubscribe: {
        Header: MAIL.Headers['List-Unsubscribe'],
        Links: ['mailto:off@example.com', 'https://example.com/off'],
        Errors: '',
        HeaderPost: '',
      },
      Date: expect.any(String),
      Tags: MAIL.Tags,
      Username: 'suite',
      Text: expect.stringMatching(/^Your code is 135790\.\s*$/),
      HTML: expect.stringContaining('<b>135790</b>'),
      Size: list.messages[0]?.Size,
      Inline: [
        expect.objectContaining({
          FileName: 'logo.png',
          ContentType: 'image/png',
          ContentID: 'logo',
          Size: 8,
        }),
      ],
      Attachments: [
        {
          PartID: expect.any(String),
          FileName: 'a.txt',
          ContentType: expect.any(String),
          ContentID: '',
          Size: 5,
          Checksums: checksums,
        },
      ],
    });
    expect(await mailpit.getMessageSummary(ID)).toEqual(message);
    const file = await mailpit.getMessageAttachment(ID, message.Attachments[0]?.PartID ?? '');
    expect(await file.text()).toBe('hello');
    const picture = await mailpit.getMessageAttachment('latest', message.Inline[0]?.PartID ?? '');
    expect([picture.type, picture.size]).toEqual(['image/png', 8]);
  });

  test('has its header, its source and its views', async () => {
    await mailpit.sendMessage(MAIL);
    const headers = await mailpit.getMessageHeaders();
    expect(headers).toMatchObject({ 'X-Order': ['4711'], 'Mime-Version': ['1.0'] });
    expect(Object.keys(headers)).toEqual(Object.keys(headers).toSorted());
    expect(headers['Message-Id']?.[0]).toMatch(/^<.*>$/);
    expect(await mailpit.getMessageSource()).toMatch(/^Received: [\s\S]*\r\nX-Order: 4711\r\n/);
    expect(await mailpit.renderMessageText()).toContain('Your code is 135790.');
    const html = await mailpit.renderMessageHTML('latest', 1);
    expect(html).toContain(`<img src="data:image/png;base64,${PICTURE}">`);
  });

  test('searches, waits, and deletes what it finds', async () => {
    await mailpit.sendMessage({ ...MAIL, Subject: 'The first' });
    const waiting = mailpit.waitForMessage({ query: 'subject:"the second" to:jane' }, { interval: 50 });
    const { ID } = await mailpit.sendMessage({ ...MAIL, Subject: 'The second' });
    expect((await waiting).ID).toBe(ID);
    expect(await mailpit.waitForMessages({ count: 2 }, { interval: 50 })).toMatchObject({ total: 2 });
    const found = async (query: string) =>
      (await mailpit.searchMessages({ query })).messages.map(({ Subject }) => Subject);
    expect(await found('135790 has:attachment')).toEqual(['The second', 'The first']);
    expect(await found('is:unread')).toEqual(['The first']);
    expect(await found('"Jane Doe" -subject:second tag:orders larger:100 before:2100-01-01')).toEqual([
      'The first',
    ]);
    expect(await mailpit.searchMessages({ query: 'tag:news', start: 1, limit: 1 })).toMatchObject({
      total: 2,
      messages_count: 2,
      messages_unread: 1,
      start: 1,
      count: 1,
      messages: [{ Subject: 'The first' }],
    });
    expect(await mailpit.deleteMessagesBySearch({ query: 'subject:second' })).toBe('ok');
    expect(await found('tag:news')).toEqual(['The first']);
  });

  test('marks messages as read, and tags them', async () => {
    const { ID } = await mailpit.sendMessage(MAIL);
    await mailpit.sendMessage({ ...MAIL, Tags: [] });
    const marks = async () => (await mailpit.listMessages()).messages.map(({ Read, Tags }) => [Read, Tags]);
    expect(await mailpit.setReadStatus({ Read: true, IDs: [ID] })).toBe('ok');
    expect(await mailpit.setTags({ IDs: [ID], Tags: ['one', 'two'] })).toBe('ok');
    expect(await marks()).toEqual([
      [false, []],
      [true, ['one', 'two']],
    ]);
    await mailpit.setReadStatus({ Read: false, Search: 'tag:one' });
    await mailpit.renameTag('one', 'three');
    await mailpit.deleteTag('two');
    expect(await marks()).toEqual([
      [false, []],
      [false, ['three']],
    ]);
    await mailpit.setReadStatus({ Read: true });
    expect(await mailpit.getTags()).toEqual(['three']);
    expect(await mailpit.getInfo()).toMatchObject({ Messages: 2, Unread: 0, Tags: { three: 1 } });
    expect(await mailpit.deleteMessages({ IDs: [ID] })).toBe('ok');
    expect(await mailpit.listMessages()).toMatchObject({ total: 1, tags: [] });
  });

  test('sees mail of its own box only; the name of the key stands for all of them', async () => {
    await mailpit.sendMessage(MAIL);
    await client('other').sendMessage({ ...MAIL, Subject: 'Other' });
    expect(await client('other').listMessages()).toMatchObject({
      total: 1,
      messages: [{ Subject: 'Other' }],
    });
    expect(await client('tests').listMessages()).toMatchObject({ total: 2 });
    await client('other').deleteMessages();
    expect(await client('tests').listMessages()).toMatchObject({ total: 1 });
  });

  test('finds what an application sent over SMTP, in the box of its user name', async () => {
    const [port = 0] = service.server.runtime.smtp;
    const auth = { user: 'worker-7', pass: key };
    const application = createTransport({ host: '127.0.0.1', port, auth, ignoreTLS: true });
    await application.sendMail({
      from: '"Shop" <shop@example.com>',
      to: 'Jane <jane@example.org>, bob@example.org',
      bcc: 'secret@example.org',
      subject: 'Reset your password',
      text: 'https://example.com/reset?token=abc',
      html: '<a href="https://example.com/reset?token=abc">Reset</a>',
      attachments: [{ filename: 'terms.pdf', content: 'pdf', contentType: 'application/pdf' }],
    });
    const message = await client('worker-7').waitForMessage(
      { query: 'subject:"reset your" bcc:secret' },
      { interval: 50 },
    );
    expect(message).toMatchObject({
      From: { Name: 'Shop', Address: 'shop@example.com' },
      To: [
        { Name: 'Jane', Address: 'jane@example.org' },
        { Name: '', Address: 'bob@example.org' },
      ],
      Bcc: [{ Name: '', Address: 'secret@example.org' }],
      ReturnPath: 'shop@example.com',
      Username: 'worker-7',
      Text: 'https://example.com/reset?token=abc',
      Attachments: [{ FileName: 'terms.pdf', ContentType: 'application/pdf', Size: 3 }],
    });
    expect(await mailpit.listMessages()).toMatchObject({ total: 0 });
  });

  test('hears what is refused', async () => {
    const { ID } = await mailpit.sendMessage(MAIL);
    expect(await mailpit.getConfiguration()).toMatchObject({ ChaosEnabled: false, SpamAssassin: false });
    await expect(client('suite', 'wrong').getInfo()).rejects.toThrow('401 Unauthorized');
    await expect(client('suite', service.client.key).getInfo()).rejects.toThrow('403 Forbidden');
    await expect(mailpit.releaseMessage(ID, { To: ['a@example.org'] })).rejects.toThrow('400 Bad Request');
    await expect(mailpit.htmlCheck()).rejects.toThrow(/400 Bad Request .*"Error"/);
    await expect(mailpit.linkCheck()).rejects.toThrow('400 Bad Request');
    await expect(mailpit.spamAssassinCheck()).rejects.toThrow('400 Bad Request');
    await expect(mailpit.getChaosTriggers()).rejects.toThrow('400 Bad Request');
    await expect(mailpit.setChaosTriggers({})).rejects.toThrow('400 Bad Request');
    await expect(mailpit.getAttachmentThumbnail(ID, '1')).rejects.toThrow('400 Bad Request');
    await expect(mailpit.searchMessages({ query: ' ' })).rejects.toThrow('no search query');
    await expect(mailpit.getMessageSummary('msg_none')).rejects.toThrow('404 Not Found');
    await expect(mailpit.sendMessage({ ...MAIL, To: [{ Email: 'nobody' }] })).rejects.toThrow(
      /400 Bad Request .*To\[0\]/,
    );
  });
});

describe('cypress-mailpit', () => {
  const commands = new Map<string, (...args: readonly unknown[]) => Promise<unknown>>();
  /** Runs a command; of a chain, with what the one before gave. */
  function run(name: string, ...args: readonly unknown[]): Promise<unknown> {
    const command = commands.get(name);
    if (command === undefined) throw new Error(`there is no command ${name}`);
    return command(...args);
  }
  const all = async () => (await run('mailpitGetAllMails')) as MailpitMessagesSummaryResponse;

  beforeAll(async () => {
    standInForCypress({ url: root(), username: 'cypress', password: key });
    // The package's entry, which adds these to Cypress, can only be read by a bundler.
    const { MailpitCommands } = await import('cypress-mailpit/dist/src/MailpitCommands.js');
    const { parentCypressCommands, childCypressCommands } = MailpitCommands;
    const made = new MailpitCommands();
    for (const name of [...parentCypressCommands, ...childCypressCommands])
      commands.set(name, Reflect.get(made, name).bind(made));
  });
  beforeEach(() => run('mailpitDeleteAllEmails'));

  test('sends mail, with and without options, and reads it', async () => {
    await run('mailpitSendMail');
    expect(await run('mailpitGetMail')).toMatchObject({
      From: { Address: 'from@example.com', Name: 'From' },
      ReplyTo: [{ Address: 'replyto@example.com' }],
    });
    await run('mailpitSendMail', {
      to: [
        { Email: 'to@example.com', Name: 'To' },
        { Email: 'text@example.com', Name: 'To' },
      ],
      subject: 'Test',
      textBody: 'Test',
      htmlBody: '<p>Test</p>',
      tags: ['tag1', 'tag2'],
      attachments: [
        { Content: 'SGVsbG8gV29ybGQ=', FileName: 'hello.txt' },
        { Content: 'SGVsbG8gV29ybGQ=', FileName: 'hello2.txt' },
      ],
    });
    const mail = await run('mailpitGetMail');
    expect(mail).toMatchObject({ Tags: ['tag1', 'tag2'], Bcc: [{ Address: 'bcc@example.com' }] });
    expect(await run('mailpitGetSubject', mail)).toBe('Test');
    expect(await run('mailpitGetFromAddress', mail)).toBe('from@example.com');
    expect(await run('mailpitGetRecipientAddress', mail)).toEqual(['to@example.com', 'text@example.com']);
    expect(await run('mailpitGetMailHTMlBody', mail)).toContain('<p>Test</p>');
    expect(await run('mailpitGetMailTextBody', mail)).toBe('Test');
    expect(await run('mailpitGetAttachments', mail)).toEqual(['hello.txt', 'hello2.txt']);
  });

  test('lists, pages and searches', async () => {
    for (const subject of ['First Email', 'Second Email', 'Third Email'])
      await run('mailpitSendMail', { subject });
    expect(await run('mailpitGetAllMails', 2, 2)).toMatchObject({
      total: 3,
      messages_count: 3,
      start: 2,
      messages: [{ Subject: 'First Email' }],
    });
    expect(await run('mailpitGetEmailsBySubject', 'First Email')).toMatchObject({
      messages_count: 1,
      total: 3,
    });
    expect(await run('mailpitGetEmailsByTo', 'jane@example.com')).toMatchObject({
      messages_count: 3,
      count: 3,
    });
    expect(await run('mailpitHasEmailsBySubject', 'Second')).toMatchObject({ messages_count: 1 });
    expect(await run('mailpitHasEmailsByTo', 'jane@example.com')).toMatchObject({ messages_count: 3 });
    expect(await run('mailpitNotHasEmailsByTo', 'invalid@example.com')).toMatchObject({ messages_count: 0 });
    const brief = [undefined, undefined, { timeout: 60, interval: 20 }];
    await expect(run('mailpitHasEmailsBySearch', 'subject:None', ...brief)).rejects.toThrow('Timed out');
    await expect(run('mailpitNotHasEmailsBySubject', 'Third', ...brief)).rejects.toThrow('Timed out');
  });

  test('marks mail as read, one and all', async () => {
    await run('mailpitSendMail', { subject: 'One' });
    await run('mailpitSendMail', { subject: 'Two' });
    const marks = async () => (await all()).messages.map(({ Read }) => Read);
    expect(await run('mailpitSetAllEmailStatusAsRead')).toBe('ok');
    expect(await marks()).toEqual([true, true]);
    expect(await run('mailpitSetStatusAsUnRead', await run('mailpitGetMail'))).toBe('ok');
    expect(await marks()).toEqual([false, true]);
    await run('mailpitSetStatusAsRead', (await all()).messages);
    expect(await marks()).toEqual([true, true]);
    await run('mailpitSetAllEmailStatusAsUnRead');
    expect(await marks()).toEqual([false, false]);
  });

  test('deletes what a search finds, and nothing without one', async () => {
    await run('mailpitSendMail', { subject: 'Delete Me', textBody: 'Test' });
    await run('mailpitSendMail', { subject: 'No Delete', textBody: 'Test' });
    await run('mailpitDeleteEmailsBySearch', 'subject:"Delete Me"');
    await run('mailpitHasEmailsBySubject', 'No Delete');
    await expect(run('mailpitDeleteEmailsBySearch', '')).rejects.toThrow(/400: Bad Request.*no search query/);
    expect(await run('mailpitGetAllMails')).toMatchObject({ total: 1 });
  });
});
