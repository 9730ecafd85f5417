import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../lib/clock.ts';
import { seededRandom } from '../lib/random.ts';
import { manifestText } from './contents.ts';
import { restoreBackup } from './restore.ts';
import { openSecrets, sealSecrets } from './sealed-secrets.ts';
import { BLOCK_BYTES, paddingOf, readTarHeader, tarHeader } from './tar.ts';

const MANIFEST = manifestText({
  version: '1.0.0',
  createdAt: '2026-11-22T00:00:00.000Z',
  messages: 0,
  segments: 0,
  bytes: 0,
  withSecretKey: false,
});

interface Part {
  readonly name: string;
  readonly text: string;
  /** Changes the finished header; its checksum is made right again. */
  readonly bend?: (header: Buffer) => void;
}

function sumOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function sums(parts: readonly Part[]): Part {
  return { name: 'SHA256SUMS', text: parts.map(({ name, text }) => `${sumOf(text)}  ${name}\n`).join('') };
}

function bytesOf({ name, text, bend }: Part): Buffer {
  const header = tarHeader({ name: name.slice(0, 100), size: Buffer.byteLength(text) }, 0);
  if (bend !== undefined) {
    bend(header);
    header.fill(0x20, 148, 156);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  }
  return Buffer.concat([header, Buffer.from(text), Buffer.alloc(paddingOf(Buffer.byteLength(text)))]);
}

const END = Buffer.alloc(2 * BLOCK_BYTES);
const FIRST: Part = { name: 'waybill-backup.json', text: MANIFEST };
const NO_DATABASE: Part = { name: 'waybill.db', text: 'this is no database' };

describe('an archive that is not what it should be', () => {
  let folder: string;
  let dataDir: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'waybill-archive-'));
    dataDir = join(folder, 'data');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const restore = (file: string, passphrase: string | null = null) =>
    restoreBackup(
      { file, dataDir, passphrase },
      { clock: systemClock, signal: new AbortController().signal, tell() {}, bytesPerSecond: null },
    );
  const archive = (parts: readonly Part[], end = END) => {
    const file = join(folder, 'archive.tar');
    writeFileSync(file, Buffer.concat([...parts.map(bytesOf), end]));
    return file;
  };
  const plus = (...more: readonly Part[]) => {
    const parts = [FIRST, ...more];
    return archive([...parts, sums(parts)]);
  };
  const refused = async (file: string, reason: RegExp, passphrase: string | null = null) => {
    await expect(restore(file, passphrase)).rejects.toThrow(reason);
    expect(existsSync(dataDir)).toBe(false);
    expect(readdirSync(folder).filter((name) => name !== 'archive.tar')).toEqual([]);
  };

  const type = (letter: string) => (header: Buffer) => void header.write(letter, 156);
  it.each([
    ['a path that leads out', '../evil', undefined],
    ['a path that leads out of the spool', 'spool/../../evil', undefined],
    ['an absolute path', '/tmp/evil', undefined],
    ['another file', 'control.sock', undefined],
    ['a segment with another name', 'spool/1.seg', undefined],
    ['a name in letters of another case', 'WAYBILL.DB', undefined],
    ['a symbolic link', 'waybill.db', type('2')],
    ['a hard link', 'waybill.db', type('1')],
    ['a folder', 'waybill.db', type('5')],
    ['a device', 'waybill.db', type('3')],
    ['a long name of GNU tar', 'waybill.db', type('L')],
    ['a header of pax', 'waybill.db', type('x')],
    ['a prefix before the name', 'waybill.db', (header: Buffer) => void header.write('/etc', 345)],
  ])('is refused: %s', async (_, name, bend) => {
    await refused(plus({ name, text: 'evil', ...(bend && { bend }) }), /no backup has that/);
  });

  it.each(['a\x1b[31mb', 'a\x9b31mb', 'a\x7fb\nc'])(
    'is refused without its odd name reaching a terminal: %j',
    async (name) => {
      const bend = (header: Buffer) => void header.fill(0, 0, 100).write(name, 'latin1');
      await refused(plus({ name: 'x', text: 'evil', bend }), /^[ -~]+$/);
      const listed = { name: 'SHA256SUMS', text: `${'0'.repeat(64)}  ${name.replace('\n', '')}\n` };
      await refused(archive([FIRST, listed]), /^[ -~]+$/);
    },
  );

  it('is refused: an entry that is there twice', async () => {
    await refused(plus(NO_DATABASE, NO_DATABASE), /twice/);
    await refused(plus({ ...FIRST }), /twice/);
  });

  it('is refused: a size that is none, or that promises more than there is', async () => {
    const bend = (header: Buffer) => void header.write('7777777777', 124);
    await refused(plus({ ...NO_DATABASE, bend }), /too early/);
    await refused(plus({ ...NO_DATABASE, bend: (header) => void header.write('-1', 124) }), /valid size/);
    await refused(
      plus({ ...NO_DATABASE, bend: (header) => void header.fill(0xff, 124, 136) }),
      /no valid size/,
    );
  });

  it('is refused: a small part that is large', async () => {
    await refused(archive([{ ...FIRST, text: 'x'.repeat(65 * 1024) }]), /too large/);
  });

  it('is refused: no manifest at its beginning, or none that can be read, or one of a newer program', async () => {
    await refused(archive([NO_DATABASE, sums([NO_DATABASE])]), /does not begin/);
    const faulty = [{ ...FIRST, text: '{' }, NO_DATABASE];
    await refused(archive([...faulty, sums(faulty)]), /not valid/);
    const newer = [{ ...FIRST, text: MANIFEST.replace('"format": 1', '"format": 2') }, NO_DATABASE];
    await refused(archive([...newer, sums(newer)]), /Restore it with that/);
  });

  it('is refused: sums that are wrong, missing, of more than there is, or no sums', async () => {
    const wrong = sums([FIRST, { ...NO_DATABASE, text: 'another' }]);
    await refused(archive([FIRST, NO_DATABASE, wrong]), /waybill.db in the archive is damaged/);
    await refused(archive([FIRST, NO_DATABASE, sums([FIRST])]), /has no sum/);
    await refused(archive([FIRST, sums([FIRST, NO_DATABASE])]), /is missing/);
    await refused(archive([FIRST, { name: 'SHA256SUMS', text: 'nonsense\n' }]), /not valid/);
    await refused(archive([FIRST, NO_DATABASE]), /too early/);
  });

  it('is refused: one byte that has changed, wherever it is; one byte too few or too many', async () => {
    const whole = Buffer.concat([...[FIRST, NO_DATABASE, sums([FIRST, NO_DATABASE])].map(bytesOf), END]);
    const file = join(folder, 'archive.tar');
    for (let at = 0; at < whole.length; at += 97) {
      const bent = Buffer.from(whole);
      bent[at] = (bent[at] ?? 0) ^ 1;
      writeFileSync(file, bent);
      await refused(file, /./);
    }
    writeFileSync(file, whole);
    truncateSync(file, whole.length - 1);
    await refused(file, /behind the end|too early/);
    writeFileSync(file, Buffer.concat([whole, Buffer.alloc(1)]));
    await refused(file, /behind the end/);
    writeFileSync(file, '');
    await refused(file, /too early/);
  });

  it('is refused: a database that is none', async () => {
    await refused(plus(NO_DATABASE), /database/);
    await refused(plus(), /no database/);
  });

  it('is refused: secrets that the passphrase does not open, or none', async () => {
    const files = new Map([['secret.key', Buffer.from('k')]]);
    const sealed = await sealSecrets(files, 'the right passphrase', seededRandom(1));
    await refused(plus({ name: 'secrets.json', text: sealed }, NO_DATABASE), /passphrase/, 'a wrong one');
    await refused(plus(NO_DATABASE), /no secrets/, 'the right passphrase');
    const dear = sealed.replace('131072', '1073741824');
    await refused(
      plus({ name: 'secrets.json', text: dear }, NO_DATABASE),
      /not valid/,
      'the right passphrase',
    );
  });

  it('is not put into a directory that is not empty, or that a link leads to somebody else’s', async () => {
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, 'mine'), '');
    await expect(restore(plus(NO_DATABASE))).rejects.toThrow(/not empty/);
    expect(readdirSync(dataDir)).toEqual(['mine']);
    symlinkSync(dataDir, join(folder, 'link'));
    await expect(
      restoreBackup(
        { file: plus(NO_DATABASE), dataDir: join(folder, 'link'), passphrase: null },
        { clock: systemClock, signal: new AbortController().signal, tell() {}, bytesPerSecond: null },
      ),
    ).rejects.toThrow(/not empty/);
    expect(readdirSync(dataDir)).toEqual(['mine']);
  });
});

it('headers tell what was written, sizes beyond eight gigabytes too', () => {
  for (const size of [0, 1, 8 ** 11 - 1, 8 ** 11, 2 ** 50])
    expect(readTarHeader(tarHeader({ name: 'spool/00000001.seg', size }, 1_795_000_000))).toEqual({
      name: 'spool/00000001.seg',
      size,
    });
  expect(readTarHeader(Buffer.alloc(BLOCK_BYTES))).toBeNull();
});

it('sealed secrets open with their passphrase, however its accents are written, and show nothing', async () => {
  const files = new Map([
    ['secret.key', Buffer.from('the key itself')],
    ['tls.key', Buffer.from([0, 255])],
  ]);
  const sealed = await sealSecrets(files, 'caf\u00e9 au lait s.v.p.', seededRandom(2));
  expect(sealed).not.toContain(Buffer.from('the key itself').toString('base64').slice(0, 8));
  expect(await openSecrets(sealed, 'cafe\u0301 au lait s.v.p.')).toEqual(files);
  await expect(openSecrets(sealed, 'cafe au lait s.v.p.')).rejects.toThrow(/passphrase/);
  expect(sealed).not.toBe(await sealSecrets(files, 'caf\u00e9 au lait s.v.p.', seededRandom(3)));
});
