import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutAt } from '../../../test/fuzz/inputs.ts';
import { readProxyHeader } from './proxy-header.ts';

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
const CLIENT_SAYS = Buffer.from('EHLO client.test\r\n');
/** 192.0.2.1:56324 to 192.0.2.9:25. */
const IPV4 = 'c0000201c0000209dc040019';
/** [2001:db8::1]:56324 to [2001:db8::9]:25. */
const IPV6 = '20010db800000000000000000000000120010db8000000000000000000000009dc040019';
const MAPPED = '00000000000000000000ffffc0000201';

/** Version 2, from hexadecimal digits. */
function binary(command: string, protocol: string, body: string, length = body.length / 2): Buffer {
  const size = length.toString(16).padStart(4, '0');
  return Buffer.concat([SIGNATURE, Buffer.from(command + protocol + size + body, 'hex')]);
}

function tlv(type: string, bytes: number): string {
  return type + bytes.toString(16).padStart(4, '0') + '61'.repeat(bytes);
}

function bytesOf(header: string | Buffer): Buffer {
  return typeof header === 'string' ? Buffer.from(header, 'latin1') : header;
}

const HEADERS: readonly (readonly [string, string | Buffer, string | null])[] = [
  ['IPv4 by text', 'PROXY TCP4 192.0.2.1 192.0.2.9 56324 25\r\n', '192.0.2.1'],
  ['the longest of IPv4', 'PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n', '255.255.255.255'],
  ['the smallest ports', 'PROXY TCP4 0.0.0.0 0.0.0.0 0 0\r\n', '0.0.0.0'],
  ['IPv6 by text', 'PROXY TCP6 2001:db8::1 2001:db8::9 56324 25\r\n', '2001:db8::1'],
  [
    'the longest of IPv6',
    `PROXY TCP6 ${'FFFF:'.repeat(7)}FFFF ${'ffff:'.repeat(7)}ffff 65535 65535\r\n`,
    `${'ffff:'.repeat(7)}ffff`,
  ],
  ['IPv6 that is not in its shortest form', 'PROXY TCP6 2001:0DB8:0:0:0:0:0:01 ::1 1 2\r\n', '2001:db8::1'],
  ['mapped IPv4', 'PROXY TCP6 ::ffff:192.0.2.1 ::ffff:c000:209 1 2\r\n', '192.0.2.1'],
  ['UNKNOWN alone', 'PROXY UNKNOWN\r\n', null],
  ['UNKNOWN with a blank', 'PROXY UNKNOWN \r\n', null],
  ['UNKNOWN with anything behind it', 'PROXY UNKNOWN ff::1 no  address 99999\0\xff\r\n', null],
  ['UNKNOWN of 107 bytes', `PROXY UNKNOWN ${'f'.repeat(91)}\r\n`, null],
  ['IPv4 in binary', binary('21', '11', IPV4), '192.0.2.1'],
  ['IPv6 in binary', binary('21', '21', IPV6), '2001:db8::1'],
  ['mapped IPv4 in binary', binary('21', '21', `${MAPPED}${MAPPED}dc040019`), '192.0.2.1'],
  ['extensions', binary('21', '11', IPV4 + tlv('04', 9) + tlv('05', 128) + tlv('ee', 0)), '192.0.2.1'],
  ['2,048 bytes behind the fixed part', binary('21', '11', IPV4 + tlv('20', 2033)), '192.0.2.1'],
  [
    'what HAProxy 2.6 writes, with crc32c and unique-id,',
    binary(
      '21',
      '11',
      `7f0000017f000001ab08a412030004564db42705002e${Buffer.from('7F000001:AB08_7F000001:A412_6B01D585_0002:6058').toString('hex')}`,
    ),
    '127.0.0.1',
  ],
  ['LOCAL', binary('20', '00', ''), null],
  ['LOCAL with addresses', binary('20', '11', IPV4), null],
  ['LOCAL with a family of its own and less than addresses', binary('20', 'ff', 'ab'), null],
  ['an unspecified family', binary('21', '00', ''), null],
  ['an unspecified family with something behind it', binary('21', '00', IPV4), null],
  ['an unspecified transport', binary('21', '10', ''), null],
  ['datagrams', binary('21', '12', IPV4), null],
  ['a UNIX socket', binary('21', '31', '2f'.repeat(216)), null],
];

test.each(HEADERS)('%s is a header, and ends where the client begins', (_, header, source) => {
  const bytes = bytesOf(header);
  expect(readProxyHeader(bytes)).toEqual({ kind: 'header', source, length: bytes.length });
  expect(readProxyHeader(Buffer.concat([bytes, CLIENT_SAYS]))).toEqual({
    kind: 'header',
    source,
    length: bytes.length,
  });
});

test.each(HEADERS)('%s is awaited from its first byte to its last', (_, header) => {
  const bytes = bytesOf(header);
  for (let length = 0; length < bytes.length; length++)
    expect(readProxyHeader(bytes.subarray(0, length)), `of ${length} bytes`).toEqual({ kind: 'more' });
});

test.each([
  'EHLO client.test\r\n',
  'GET / HTTP/1.1\r\n',
  ' PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\n',
  'proxy TCP4 1.1.1.1 2.2.2.2 1 2\r\n',
  'PROXY  TCP4 1.1.1.1 2.2.2.2 1 2\r\n',
  'PROXY\tTCP4 1.1.1.1 2.2.2.2 1 2\r\n',
  'PROXY tcp4 1.1.1.1 2.2.2.2 1 2\r\n',
  'PROXY UDP4 1.1.1.1 2.2.2.2 1 2\r\n',
  'PROXY TCP4\r\n',
  'PROXY TCP4 \r\n',
  'PROXY TCP4 1.1.1.1 2.2.2.2 1\r\n',
  'PROXY TCP4 1.1.1.1 2.2.2.2 1 \r\n',
  'PROXY TCP4 1.1.1.1 2.2.2.2 1 2 \r\n',
  'PROXY TCP4 1.1.1.1 2.2.2.2 1 2 3\r\n',
  'PROXY TCP4  1.1.1.1 2.2.2.2 1 2\r\n',
  'PROXY TCP4 1.1.1.1  2.2.2.2 1 2\r\n',
  'PROXY TCP4 1.1.1 2.2.2.2 1 2\r\n',
  'PROXY TCP4 1.1.1.1.1 2.2.2.2 1 2\r\n',
  'PROXY TCP4 01.1.1.1 2.2.2.2 1 2\r\n',
  'PROXY TCP4 1.1.1.256 2.2.2.2 1 2\r\n',
  'PROXY TCP4 1.1.1.1 2.2.2 1 2\r\n',
  'PROXY TCP4 ::1 2.2.2.2 1 2\r\n',
  'PROXY TCP4 host.test 2.2.2.2 1 2\r\n',
  'PROXY TCP4 1.1.1.1 2.2.2.2 01 2\r\n',
  'PROXY TCP4 1.1.1.1 2.2.2.2 00 2\r\n',
  'PROXY TCP4 1.1.1.1 2.2.2.2 -1 2\r\n',
  'PROXY TCP4 1.1.1.1 2.2.2.2 +1 2\r\n',
  'PROXY TCP4 1.1.1.1 2.2.2.2 1 65536\r\n',
  'PROXY TCP4 1.1.1.1 2.2.2.2 1 x\r\n',
  'PROXY TCP4 1.1.1.1 2.2.2.2 1 2\n',
  'PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\r\n',
  'PROXY TCP4 1.1.1.1 2.2.2.2 1 2\rE',
  'PROXY TCP4 1.1.1.1 2.2.2.2 1 2\0\r\n',
  'PROXY TCP6 1.1.1.1 2.2.2.2 1 2\r\n',
  'PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n',
  'PROXY TCP6 [::1] ::1 1 2\r\n',
  'PROXY TCP6 ::1::1 ::1 1 2\r\n',
  'PROXY TCP6 00001::1 ::1 1 2\r\n',
  'PROXY TCP6 1:2:3:4:5:6:7 ::1 1 2\r\n',
  'PROXY TCP6 ::ffff:1.1.1.01 ::1 1 2\r\n',
  'PROXY UNKNOWNX\r\n',
  'PROXY UNKNOWN x\ny\r\n',
  `PROXY UNKNOWN ${'f'.repeat(92)}\r\n`,
])('%j is invalid', (text) => {
  expect(readProxyHeader(Buffer.from(text, 'latin1'))).toMatchObject({ kind: 'invalid' });
});

test.each([
  ['another signature', Buffer.from('0d0a0d0a000d0a515549540b', 'hex')],
  ['version 1', binary('11', '11', IPV4)],
  ['version 3', binary('31', '11', IPV4)],
  ['an unknown command', binary('22', '11', IPV4)],
  ['an unknown family', binary('21', '41', IPV4)],
  ['an unknown transport', binary('21', '13', IPV4)],
  ['less than two addresses of IPv4', binary('21', '11', IPV4.slice(2))],
  ['less than two addresses of IPv6', binary('21', '21', IPV6.slice(2))],
  ['less than two paths', binary('21', '31', '2f'.repeat(215))],
])('%s is invalid', (_, bytes) => {
  expect(readProxyHeader(bytes)).toMatchObject({ kind: 'invalid' });
});

test('what can never become a header is told at once', () => {
  for (const beginning of ['E', 'PROXY TCP4 1.1.1.300 ', 'PROXY TCP6 x', '\r\n\r\n\0\r\nQUIT\n\x11'])
    expect(readProxyHeader(Buffer.from(beginning, 'latin1'))).toMatchObject({ kind: 'invalid' });
});

test('no more is awaited than the longest header has', () => {
  const line = Buffer.from(`PROXY UNKNOWN ${'f'.repeat(93)}`);
  expect(readProxyHeader(line.subarray(0, 106))).toEqual({ kind: 'more' });
  expect(readProxyHeader(line.subarray(0, 107))).toMatchObject({ kind: 'invalid' });
  expect(readProxyHeader(binary('21', '11', IPV4, 2048))).toEqual({ kind: 'more' });
  expect(readProxyHeader(binary('21', '11', '', 2049))).toMatchObject({ kind: 'invalid' });
});

test('an address is the same by text and in binary, in whichever chunks it comes', () => {
  const address = fc.oneof(
    fc.ipV4().map((ip) => ({ ip, hex: Buffer.from(ip.split('.').map(Number)).toString('hex') })),
    fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 8, maxLength: 8 }).map((groups) => ({
      ip: groups.map((group) => group.toString(16)).join(':'),
      hex: groups.map((group) => group.toString(16).padStart(4, '0')).join(''),
    })),
  );
  fc.assert(
    fc.property(address, fc.nat(65_535), fc.array(fc.nat()), ({ ip, hex }, port, places) => {
      const family = hex.length === 8 ? 4 : 6;
      const text = Buffer.from(`PROXY TCP${family} ${ip} ${ip} ${port} 25\r\n`);
      const bytes = binary('21', family === 4 ? '11' : '21', `${hex}${hex}00010019`);
      const [fromText, fromBinary] = [text, bytes].map((header) => readIn(cutAt(header, places)));
      expect(fromText).toMatchObject({ kind: 'header', length: text.length });
      expect(fromBinary).toEqual({ ...fromText, length: bytes.length });
    }),
  );
});

/** As an owner reads: anew at every chunk, until it is known. */
function readIn(chunks: readonly Buffer[]) {
  let bytes = Buffer.alloc(0);
  for (const chunk of chunks) {
    bytes = Buffer.concat([bytes, chunk]);
    const header = readProxyHeader(bytes);
    if (header.kind !== 'more') return header;
  }
  return null;
}
