import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAIL, World } from './world.ts';

/** Who sends, and to whom (contract §2), as JSON. */

let world: World;
let key: string;

beforeAll(async () => {
  world = await World.start();
  key = await world.key({ id: 'sender' });
});
afterAll(() => world.close());

const post = (fields: object) => world.post(key, { ...MAIL, ...fields });
const accept = (fields: object) => world.accept(key, fields);
const refuse = (fields: object) => world.refuse(key, fields);

describe('from', () => {
  test('is one mailbox, with or without a name', async () => {
    const { envelope, header } = await accept({ from: 'Jane Doe <jane@Example.COM>' });
    expect(envelope.reversePath).toBe('jane@example.com');
    expect(header.from).toBe('Jane Doe <jane@example.com>');
  });
  test('a name that came encoded, as many libraries write it, is not encoded once more', async () => {
    const { header } = await accept({
      from: '=?utf-8?b?SsO8cmdlbg==?= Doe <j@x.test>',
      to: ['=?iso-8859-1?q?Ren=E9?= <r@x.test>', '=?utf-8?q??= <n@x.test>'],
      headers: { 'Reply-To': '=?utf-8?q?Plain?= <p@x.test>' },
    });
    expect(header.from).toBe('Jürgen Doe <j@x.test>');
    expect(world.lastText).toMatch(/^From: =\?utf-8\?B\?SsO8cmdlbiBEb2U=\?= <j@x\.test>\r$/m);
    expect(world.lastText).toMatch(/^To: =\?utf-8\?B\?UmVuw6k=\?= <r@x\.test>, n@x\.test\r$/m);
    expect(world.lastText).toMatch(/^Reply-To: Plain <p@x\.test>\r$/m);
  });
  test('what is hidden in an encoded name opens no other field', async () => {
    await accept({ from: '=?utf-8?q?a=0D=0ABcc=3A_b=40x.test?= <j@x.test>' });
    expect(world.lastText).not.toMatch(/^Bcc:/m);
    expect(world.lastText).toMatch(/^From: "a Bcc: b@x\.test" <j@x\.test>\r$/m);
  });
  test.each([
    ['missing', undefined, '/from required'],
    ['null', null, '/from required'],
    ['empty', '', '/from required'],
    ['no string', 5, '/from type'],
    ['two mailboxes', 'a@x.test, b@x.test', '/from address_count'],
    ['no address', 'jane', '/from address_syntax'],
    ['carrying a line break', 'a@x.test\r\nBcc: b@x.test', '/from address_control'],
  ])('%s is refused', async (_, from, fault) => expect(await refuse({ from })).toEqual([fault]));
});

describe('to, cc and bcc', () => {
  test('all reach the envelope, and bcc never the message', async () => {
    const { envelope } = await accept({ to: ['a@x.test'], cc: ['b@x.test'], bcc: ['hidden@x.test'] });
    expect(envelope.recipients.map(({ address, kind }) => [address, kind])).toEqual([
      ['a@x.test', 'to'],
      ['b@x.test', 'cc'],
      ['hidden@x.test', 'bcc'],
    ]);
    expect(world.lastText).not.toContain('hidden');
  });
  test.each(['to', 'cc', 'bcc'])('%s alone is enough', async (field) => {
    const { envelope } = await accept({ to: null, [field]: ['a@x.test'] });
    expect(envelope.recipients).toHaveLength(1);
  });
  test('a single string is an address list', async () => {
    const { envelope } = await accept({ to: '"Doe, Jane" <j@x.test>, b@x.test' });
    expect(envelope.recipients.map(({ address }) => address)).toEqual(['j@x.test', 'b@x.test']);
  });
  test('an element of an array is one mailbox', async () =>
    expect(await refuse({ to: ['a@x.test', 'b@x.test, c@x.test'] })).toEqual(['/to/1 address_count']));
  test('duplicates are delivered once, and the first mention wins', async () => {
    const { envelope } = await accept({
      to: ['a@X.test', 'A Name <a@x.test>'],
      cc: ['b@x.test'],
      bcc: ['b@x.test', 'a@x.test', 'A@x.test'],
    });
    expect(envelope.recipients.map(({ address, kind }) => `${kind} ${address}`)).toEqual([
      'to a@x.test',
      'cc b@x.test',
      'bcc A@x.test',
    ]);
  });
  test('a local part reaches the envelope and the message as given; NFC only tells duplicates apart', async () => {
    const { envelope } = await accept({ to: ['e\u0301@x.test', '\u00e9@x.test'], bcc: ['\u00e9@x.test'] });
    expect(envelope.recipients.map(({ address }) => address)).toEqual(['e\u0301@x.test']);
    expect(Buffer.from(world.lastText, 'latin1').toString()).toMatch(/^To: e\u0301@x\.test\r$/m);
  });
  test('the header shows each address once, in whatever case: providers refuse one that stands there twice', async () => {
    const { envelope } = await accept({
      to: ['a@x.test', 'A Name <a@x.test>', 'b@x.test'],
      cc: ['B@x.test', 'a@x.test'],
    });
    expect(envelope.recipients.map(({ address }) => address)).toEqual(['a@x.test', 'b@x.test', 'B@x.test']);
    expect(world.lastText).toMatch(/^To: a@x\.test, b@x\.test\r$/m);
    expect(world.lastText).not.toMatch(/^Cc:/m);
    await accept({ to: ['a@x.test'], cc: ['A@x.test', 'c@x.test'] });
    expect(world.lastText).toMatch(/^Cc: c@x\.test\r$/m);
  });
  test('none at all is refused', async () => {
    for (const none of [{ to: undefined }, { to: null }, { to: [] }, { to: '' }, { to: [], cc: [], bcc: '' }])
      expect(await refuse(none)).toEqual(['/to required']);
  });
  test('an unquoted comma in a name is refused with the quoting shown, never delivered in part', async () => {
    const answer = await post({ to: 'Doe, Jane <j@x.test>' });
    expect(answer.status).toBe(400);
    expect(answer.json.errors?.[0]?.detail).toContain('"Doe, Jane" <j@x.test>');
  });
  test.each([
    ['a number', 5, '/to type'],
    ['an object', {}, '/to type'],
    ['a number in the array', ['a@x.test', 5], '/to/1 type'],
    ['an empty string in the array', ['a@x.test', ''], '/to/1 address_missing'],
    ['a blank behind', ['a@x.test '], '/to/0 address_syntax'],
    ['a blank before', ['\ta@x.test'], '/to/0 address_syntax'],
    ['a blank in the brackets', ['A <a@x.test >'], '/to/0 address_syntax'],
    ['a quoted local part with @', ['"a@b"@x.test'], '/to/0 address_local_part'],
  ])('%s is refused', async (_, to, fault) => expect(await refuse({ to })).toEqual([fault]));
  test('as many as api.max_recipients over all three are taken, one more is refused', async () => {
    const many = (count: number, name: string) =>
      Array.from({ length: count }, (_, i) => `${name}${i}@x.test`);
    expect(
      (await accept({ to: many(4, 'a'), cc: many(3, 'b'), bcc: many(3, 'c') })).envelope.recipients,
    ).toHaveLength(10);
    expect(await refuse({ to: many(4, 'a'), cc: many(3, 'b'), bcc: many(4, 'c') })).toEqual([
      '/to too_many_recipients',
    ]);
    expect(await refuse({ cc: many(11, 'b') })).toEqual(['/cc too_many_recipients']);
    expect(await refuse({ bcc: many(11, 'b').join() })).toEqual(['/bcc too_many_recipients']);
  });
  test('repeated addresses of a list count, and no list is read beyond the limit', async () => {
    const repeated = (count: number) => Array(count).fill('a@x.test').join();
    expect((await accept({ to: repeated(10) })).envelope.recipients).toHaveLength(1);
    expect(await refuse({ to: repeated(11) })).toEqual(['/to too_many_recipients']);
    expect(await refuse({ to: `${repeated(11)},no address` })).toEqual(['/to too_many_recipients']);
    expect(await refuse({ from: `${repeated(8)},no address` })).toEqual(['/from address_count']);
  });
  test('a non-ASCII local part marks the message SMTPUTF8, in bcc too', async () => {
    expect((await accept({ bcc: ['jürgen@x.test'] })).content.flags.utf8).toBe(true);
    expect((await accept({ bcc: ['b@bücher.test'] })).content.flags.utf8).toBe(false);
    expect(world.last.envelope.recipients[1]?.address).toBe('b@xn--bcher-kva.test');
  });
});
