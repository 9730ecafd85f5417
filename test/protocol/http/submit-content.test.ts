import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { World } from './world.ts';

/** What a message says: subject, bodies, headers, attachments (contract §2), as JSON. */

let world: World;
let key: string;

beforeAll(async () => {
  world = await World.start();
  key = await world.key({ id: 'sender' });
});
afterAll(() => world.close());

const accept = (fields: object) => world.accept(key, fields);
const refuse = (fields: object) => world.refuse(key, fields);

describe('subject', () => {
  test.each([
    ['absent', undefined],
    ['null', null],
    ['empty', ''],
  ])('may be %s', async (_, subject) => expect((await accept({ subject })).header.subject).toBe(''));
  test.each(['a\rb', 'a\nb', 'a\r\nBcc: x@y.test', 'a\0b'])(
    'with a line break or NUL is refused: %j',
    async (subject) => expect(await refuse({ subject })).toEqual(['/subject subject_value']),
  );
  test.each(['a\u202eb', 'a\u2067b\u2069'])('with a mark that turns text is refused: %j', async (subject) =>
    expect(await refuse({ subject })).toEqual(['/subject subject_value']),
  );
  test('that is no string is refused', async () =>
    expect(await refuse({ subject: 1 })).toEqual(['/subject type']));
  test('of more than 2,000 characters is refused', async () =>
    expect(await refuse({ subject: 'x'.repeat(2001) })).toEqual(['/subject subject_too_long']));
});

describe('text and html', () => {
  test('either alone is enough, and so is an attachment', async () => {
    await accept({ text: 'x', html: null });
    await accept({ text: null, html: '<p>x</p>' });
    await accept({ text: undefined, attachments: [{ filename: 'a.txt', content: 'QQ==' }] });
  });
  test('both make an alternative', async () => {
    await accept({ text: 'x', html: '<p>x</p>' });
    expect(world.lastText).toContain('multipart/alternative');
  });
  test('none of text, html and attachments is refused; empty ones count as absent', async () => {
    expect(await refuse({ text: undefined })).toEqual(['/text required']);
    expect(await refuse({ text: '', html: '', attachments: [] })).toEqual(['/text required']);
  });
  test.each(['text', 'html'])('%s that is no string is refused', async (field) =>
    expect(await refuse({ [field]: ['x'] })).toEqual([`/${field} type`]),
  );
});

test('an empty value of another type equals an absent one, and a name that is none of ours is named', async () => {
  const lists = { subject: [], html: [], headers: [], metadata: [], sendAt: [], priority: [] };
  const empty = { ...lists, tags: '', attachments: '', dryRun: '' };
  await accept(empty);
  expect(await refuse({ ...empty, bc: [], from: [] })).toEqual(['/from required', '/bc unknown_field']);
});

describe('headers', () => {
  test('pass into the message', async () => {
    await accept({ headers: { 'X-Campaign': 'spring', 'Reply-To': 'r@x.test', References: '<a@b> <c@d>' } });
    for (const line of ['X-Campaign: spring', 'Reply-To: r@x.test', 'References: <a@b> <c@d>'])
      expect(world.lastText).toContain(`\r\n${line}\r\n`);
  });
  test('null equals absent', async () => {
    await accept({ headers: { 'X-A': null } });
    expect(world.lastText).not.toContain('X-A');
  });
  test.each([
    'From',
    'to',
    'CC',
    'Bcc',
    'Subject',
    'MIME-Version',
    'Content-Type',
    'Received',
    'Return-Path',
    'Resent-To',
    'X-Waybill-Tag',
    'DKIM-Signature',
    'ARC-Seal',
    'Authentication-Results',
  ])('%s is refused by name', async (name) =>
    expect(await refuse({ headers: { [name]: 'x@example.com' } })).toEqual([
      `/headers/${name} header_forbidden`,
    ]),
  );
  test.each([
    ['a CRLF', { 'X-A': 'x\r\nBcc: y@z.test' }, '/headers/X-A header_value'],
    ['a NUL', { 'X-A': 'x\0' }, '/headers/X-A header_value'],
    ['a blank in the name', { 'X A': 'x' }, '/headers/X A header_name'],
    ['a slash in the name, escaped in the pointer', { 'X/~A:': 'x' }, '/headers/X~1~0A: header_name'],
    ['an invalid Date', { Date: 'yesterday' }, '/headers/Date header_date'],
    ['an invalid Message-ID', { 'Message-ID': 'x' }, '/headers/Message-ID header_message_id'],
    ['a Sender on another domain', { Sender: 'a@other.test' }, '/headers/Sender header_sender_domain'],
    ['a value that is no string', { 'X-A': 1 }, '/headers/X-A type'],
    ['an array', ['X-A'], '/headers type'],
  ])('%s is refused', async (_, headers, fault) => expect(await refuse({ headers })).toEqual([fault]));
  test('a valid Date, Message-ID and Sender take the place of ours', async () => {
    const { header } = await accept({
      headers: {
        Date: 'Fri, 20 Nov 2026 11:15:00 +0000',
        'Message-ID': '<mine@example.com>',
        Sender: 's@example.com',
      },
    });
    expect(header.messageId).toBe('<mine@example.com>');
    expect(world.lastText.match(/^Message-ID:.*$/gim)).toEqual(['Message-ID: <mine@example.com>']);
    expect(world.lastText.match(/^Date:.*$/gim)).toEqual(['Date: Fri, 20 Nov 2026 11:15:00 +0000']);
  });
  test('an empty one equals an absent one', async () => {
    await accept({ headers: { 'Reply-To': '', 'X-A': '', 'X-B': 'b' } });
    expect(world.lastText).toContain('X-B: b');
    expect(world.lastText).not.toMatch(/^(Reply-To|X-A):/m);
  });
  test('50 are taken and 51 refused', async () => {
    const some = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`X-${i}`, 'v']));
    await accept({ headers: some(50) });
    expect(await refuse({ headers: some(51) })).toEqual(['/headers header_count']);
  });
  test('64 KiB are taken and one byte more refused', async () => {
    await accept({ headers: { 'X-A': 'a '.repeat(32_766).slice(0, 65_533) } });
    expect(await refuse({ headers: { 'X-A': 'a '.repeat(32_767) } })).toEqual(['/headers header_size']);
  });
});

describe('attachments', () => {
  const one = (fields: object) => ({ attachments: [{ filename: 'a.txt', content: 'QUJD', ...fields }] });
  test('are decoded and written into the message', async () => {
    await accept(one({ contentType: 'text/csv', content: Buffer.from('a,b').toString('base64') }));
    expect(world.lastText).toMatch(/Content-Type: text\/csv\r\n/);
    expect(world.lastText).toMatch(/filename=a\.txt\r\n/);
    expect(world.lastText).toContain('\r\n\r\nYSxi\r\n');
  });
  test('an inline one with a contentId goes beside the html', async () => {
    await accept({ html: '<img src="cid:logo">', ...one({ disposition: 'inline', contentId: 'logo' }) });
    expect(world.lastText).toContain('multipart/related');
    expect(world.lastText).toContain('Content-ID: <logo>');
  });
  test('an empty file is taken', async () => void (await accept(one({ content: '' }))));
  test.each([
    [
      'a name that hides its ending',
      { filename: 'report\u202efdp.exe' },
      ['/attachments/0/filename attachment_filename'],
    ],
    ['no content', { content: undefined }, ['/attachments/0/content required']],
    ['content that is no base64', { content: 'QUJ' }, ['/attachments/0/content base64']],
    ['base64 with line breaks', { content: 'QUJD\r\nQUJD' }, ['/attachments/0/content base64']],
    ['no filename', { filename: undefined }, ['/attachments/0/filename required']],
    ['a path', { filename: '../a.txt' }, ['/attachments/0/filename attachment_filename']],
    ['a Windows path', { filename: 'c:\\a.txt' }, ['/attachments/0/filename attachment_filename']],
    ['a directory', { filename: '..' }, ['/attachments/0/filename attachment_filename']],
    [
      'a line break in the filename',
      { filename: 'a\r\nX: y' },
      ['/attachments/0/filename attachment_filename'],
    ],
    [
      'a contentType that is none',
      { contentType: 'text' },
      ['/attachments/0/contentType attachment_content_type'],
    ],
    ['a contentId with a blank', { contentId: 'a b' }, ['/attachments/0/contentId attachment_content_id']],
    ['another disposition', { disposition: 'form-data' }, ['/attachments/0/disposition disposition']],
    ['an unknown field', { path: '/etc/passwd' }, ['/attachments/0/path unknown_field']],
    [
      'several faults at once',
      { filename: 'a/b', contentType: 'x', contentId: '<>', content: '?', disposition: 'form-data' },
      [
        '/attachments/0/filename attachment_filename',
        '/attachments/0/contentType attachment_content_type',
        '/attachments/0/contentId attachment_content_id',
        '/attachments/0/disposition disposition',
        '/attachments/0/content base64',
      ],
    ],
  ])('%s: refused', async (_, fields, faults) => expect(await refuse(one(fields))).toEqual(faults));
  test('that are no array of objects are refused', async () => {
    expect(await refuse({ attachments: {} })).toEqual(['/attachments type']);
    expect(await refuse({ attachments: ['x'] })).toEqual(['/attachments/0 type']);
  });
});
