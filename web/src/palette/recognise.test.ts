import { expect, test } from 'vitest';
import { holdsKey, recognise } from './recognise.ts';

const ID = 'msg_01m7wnfp4fa87fcn1kgzfwbg11';
const UUID = '0199c8fa-9c1e-7a3b-8d52-9f0e6a1b2c3d';
const SECRET = `wb_live_${'s'.repeat(49)}`;

test.each<[what: string, pasted: string, guesses: readonly string[]]>([
  ['an id of a message', ID, [`message ${ID}`]],
  ['an id with blanks and quotes around it', ` "${ID}",\n`, [`message ${ID}`]],
  ['how an id begins', 'msg_01m7w', ['message_start msg_01m7w']],
  ['a UUID, which a next hop may give, too', UUID, [`message ${UUID}`, `hop ${UUID}`]],
  [
    'a Message-ID',
    '<01m7wnfp@shop.example>',
    ['message <01m7wnfp@shop.example>', 'address 01m7wnfp@shop.example'],
  ],
  ['an address', 'ann@example.net', ['address ann@example.net', 'message_id <ann@example.net>']],
  [
    'an address with a name',
    'Ann <ann@example.net>',
    ['address ann@example.net', 'message_id <ann@example.net>'],
  ],
  [
    'an address of a log',
    'to=<ann@example.net>',
    ['address ann@example.net', 'message_id <ann@example.net>'],
  ],
  ['a domain', 'Example.ORG', ['domain example.org']],
  ['a domain behind an at sign', '@example.org', ['domain example.org']],
  ['a domain with a dot at its end', 'mail.example.org.', ['domain mail.example.org']],
  ['the host of a URL', 'https://example.org:8443/a?b', ['domain example.org']],
  ['a domain in other letters', 'bücher.example', ['domain bücher.example']],
  ['an IP address', '192.0.2.17', ['ip 192.0.2.17']],
  ['an IP address with a port', '192.0.2.17:25', ['ip 192.0.2.17']],
  ['an IPv6 address', '2001:DB8::1', ['ip 2001:db8::1']],
  ['an IPv6 address in brackets', '[2001:db8::1]:25', ['ip 2001:db8::1']],
  ['an address literal', '[IPv6:2001:db8::1]', ['ip 2001:db8::1']],
  ['no IP address', '999.0.2.17', ['hop 999.0.2.17']],
  ['a time', '10:20:30', []],
  ['how a key begins', 'wb_live_8AH2', ['key wb_live_8AH2']],
  ['a key as the list shows it', 'wb_live_8AH26H…', ['key wb_live_8AH26H']],
  ['a whole key, of which only the beginning is kept', SECRET, ['key wb_live_ssssss']],
  ['a key in a header', `Authorization: Bearer ${SECRET}`, ['key wb_live_ssssss']],
  ['a queue id', '4F7C12AB3D', ['hop 4F7C12AB3D']],
  ['a queue id in a reply', '250 2.0.0 Ok: queued as 4F7C12AB3D', ['hop 4F7C12AB3D']],
  ['a provider’s id', '0100018c2f6d8f9a-1b2c3d4e-000000', ['hop 0100018c2f6d8f9a-1b2c3d4e-000000']],
  ['a webhook', 'whe_01m7wnfp4fa87fcn1kgzfwbg11', ['webhook whe_01m7wnfp4fa87fcn1kgzfwbg11']],
  [
    'an entry of the suppression list',
    'sup_01m7wnfp4fa87fcn1kgzfwbg11',
    ['suppression sup_01m7wnfp4fa87fcn1kgzfwbg11'],
  ],
  ['words', 'invoice of ann', []],
  ['a word', 'invoice', []],
  ['nothing', '  ', []],
  ['what is too long', 'a1'.repeat(501), []],
])('%s', (_, pasted, guesses) => {
  expect(recognise(pasted).map(({ kind, text }) => `${kind} ${text}`)).toEqual(guesses);
});

test('a text with a key in it is known as such wherever the key stands', () => {
  expect(holdsKey(`curl -H "Authorization: Bearer ${SECRET}"`)).toBe(true);
  expect(holdsKey('wb_live')).toBe(false);
});
