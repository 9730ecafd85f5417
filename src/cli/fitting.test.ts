import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Installation } from '../../test/support/installation.ts';
import { settingsText } from './config.ts';
import { fittingTable, foldedTable, shortTime } from './fitting.ts';
import { table } from './terminal.ts';

const HEADINGS = ['NAME', 'STATE', 'SAYS'];
const rowsOf = fc.array(fc.tuple(fc.string({ maxLength: 90 }), fc.string(), fc.string({ maxLength: 90 })));
const widthOf = (text: string) => Math.max(...text.split('\n').map((line) => [...line].length));

test('a table is as wide as the terminal at most, and whole where there is none', () => {
  fc.assert(
    fc.property(rowsOf, fc.integer({ min: 1, max: 200 }), (rows, columns) => {
      expect(widthOf(fittingTable(HEADINGS, rows, columns))).toBeLessThanOrEqual(columns);
      expect(fittingTable(HEADINGS, rows, null)).toBe(table(HEADINGS, rows));
      expect(foldedTable(HEADINGS, rows, null)).toBe(table(HEADINGS, rows));
    }),
  );
  const wide = [['a'.repeat(40), 'ready', 'b'.repeat(50)]];
  expect(fittingTable(HEADINGS, wide, 60).split('\n')[1]).toBe(
    `${'a'.repeat(24)}…  ready  ${'b'.repeat(25)}…`,
  );
});

test('a last column is folded and loses no word', () => {
  const word = fc.stringMatching(/^[a-z]{1,12}$/);
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 30 }), (words) => {
      const text = foldedTable(HEADINGS, [['n'.repeat(70), 's', words.join(' ')]], 80);
      expect(widthOf(text)).toBeLessThanOrEqual(80);
      const said = text.split('\n').slice(1).join(' ').split(/ +/);
      expect(said.slice(2).filter(Boolean)).toEqual(words);
    }),
  );
});

test('times lose their seconds on a terminal alone', () => {
  const time = '2026-11-22T00:35:31.123Z';
  expect([shortTime(time, 80), shortTime(time, null)]).toEqual(['2026-11-22T00:35Z', time]);
});

test('a setting that is long moves nothing else out of sight, and is shown whole', () => {
  const row = (key: string, value: string) => ({ key, value, source: 'default', note: '' });
  const long = JSON.stringify(Array.from({ length: 40 }, (_, at) => `relay${at}`));
  const text = settingsText([row('a.b', '1'), row('a.list', long)], 80);
  expect(widthOf(text)).toBeLessThanOrEqual(80);
  expect(text).toMatch(/^a[.]b +1 +default$/m);
  expect(text.replace(/\n {4}/g, '')).toContain(long);
});

let here: Installation;
beforeEach(() => {
  here = new Installation();
});
afterEach(() => here.remove());

test('what people read fits a terminal of 80 columns, and is whole where there is none', async () => {
  const environment = {
    WAYBILL_SERVER__HOSTNAME: 'mail.example.com',
    WAYBILL_DELIVERY__PRIVATE_RELAYS: 'one-relay,another-relay,a-third-relay,a-fourth-relay,a-fifth-relay',
  };
  const run = async (line: string, columns?: number, answer?: string) => {
    const surroundings = { environment, ...(columns && { columns }), ...(answer && { answer }) };
    const { status, out, err } = await here.waybill(line.split(' '), surroundings);
    expect([line, status, err.replace('API key: ', '')]).toEqual([line, 0, '']);
    return out;
  };
  await run('relays add direct --type mx --default --warmup-start 2026-01-01 --warmup-per-day 50,100');
  const warmUp = '--max-per-day 50000 --warmup-start 2099-01-01';
  await run(`relays add transactional --type sendgrid ${warmUp}`, undefined, 'SG.key');
  await run('domains add a-rather-long-name.of-a-department.example.com');
  await run('domains rotate a-rather-long-name.of-a-department.example.com --selector second');
  const send = 'send --from a@example.com --to someone.with.a.long.name@department.example.net --subject x';
  const receipt: { id: string } = JSON.parse(await run(`${send} --text hi --json`));

  const list = await run('relays list', 80);
  expect(list).toMatch(/^transactional +sendgrid +spent +0 +0 +0\/0 from 2099-01-01\n {2}stored, to https:/m);
  expect(await run('relays list')).toContain('0 of 0 (warm-up begins 2099-01-01)');
  const show = await run('domains show a-rather-long-name.of-a-department.example.com', 80);
  expect(show).toMatch(/signs since \S+T\d\d:\d\dZ/);
  // Records are to be pasted, and are never cut.
  const prose = show.split('\n').filter((line) => !/^ {2}(value|zone): /.test(line));
  const message = await run(`messages show ${receipt.id}`, 80);
  expect(message).toMatch(/^priority: +normal$/m);
  for (const text of [
    list,
    prose.join('\n'),
    message,
    await run('config', 80),
    await run('domains list', 80),
  ])
    expect(widthOf(text)).toBeLessThanOrEqual(80);
  expect(widthOf(await run('config'))).toBeGreaterThan(80);
  expect(await run('domains list')).toMatch(/[.]\d{3}Z$/m);
});
