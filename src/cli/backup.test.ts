import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { Installation } from '../../test/support/installation.ts';

const here = new Installation();
afterEach(() => here.remove());

test('a backup says what is not in it and how to include it, a restore what must be put back', async () => {
  const file = join(here.folder, 'backup.tar');
  expect((await here.waybill(['backup', '--help'])).out).toMatch(
    /does not have:\n +secret[.]key[\s\S]*--with-key/,
  );
  await here.waybill(['keys', 'create', 'shop']);
  const { out } = await here.waybill(['backup', file]);
  expect(out).toContain('Not included: secret.key');
  expect(out).toContain(`backup ${join(here.folder, 'backup-with-key.tar')} --with-key`);
  const target = join(here.folder, 'restored');
  const restored = await here.waybill(['restore', file, '--data', target]);
  expect(restored.out).toContain('Put back by hand before the start:');
  for (const name of ['secret.key', 'waybill.yaml', 'tls-uploaded.pem'])
    expect(restored.out).toMatch(new RegExp(`^  .*${name} into ${target}`, 'm'));

  writeFileSync(join(here.dataDir, 'secret.key'), 'a'.repeat(64));
  writeFileSync(join(here.dataDir, 'waybill.yaml'), '{}\n');
  const passphrase = join(here.folder, 'passphrase');
  writeFileSync(passphrase, 'a long passphrase\n');
  const whole = join(here.folder, 'whole.tar');
  const taken = await here.waybill(['backup', whole, '--passphrase-file', passphrase]);
  expect([taken.status, taken.out]).toEqual([0, expect.not.stringContaining('Not in it')]);
  const again = ['restore', whole, '--data', `${target}-2`, '--passphrase-file', passphrase];
  expect((await here.waybill(again)).out).not.toMatch(/secret[.]key into|waybill[.]yaml into/);
});
