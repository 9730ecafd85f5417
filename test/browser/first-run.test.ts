import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createControlClient } from '../../src/control/client.ts';
import { ask } from '../crash/customer.ts';
import { startAuthority, type TestAuthority } from '../peers/acme-authority.ts';
import { createCertificate } from '../peers/certificate.ts';
import { describeWith } from '../peers/need.ts';
import { ADMIN, CAPTURING, Dashboard, NEEDED } from './dashboard.ts';

const run = promisify(execFile);

/**
 * Contract §14, as somebody lives through it: from the link that the server prints to the first message, and to a
 * certificate that clients accept.
 */

describeWith(NEEDED, 'the first run', () => {
  let authority: TestAuthority;
  let folder: string;
  let dashboard: Dashboard;
  let secret = '';

  beforeAll(async () => {
    const answer = async (token: string) =>
      (await ask(dashboard.server, `/.well-known/acme-challenge/${token}`)).body;
    authority = await startAuthority(answer, Date.now);
    folder = mkdtempSync(join(tmpdir(), 'waybill-roots-'));
    const caFile = join(folder, 'root.pem');
    writeFileSync(caFile, authority.ca);
    dashboard = await Dashboard.start(
      `${CAPTURING}\ntls: { acme: { directory: "${authority.directory}", ca_file: ${caFile} } }`,
    );
  });
  afterAll(async () => {
    await dashboard.stop();
    await authority.stop();
    rmSync(folder, { recursive: true });
    expect([[...dashboard.strays], dashboard.surprises]).toEqual([[], []]);
  });

  test('without the link nobody can claim the dashboard', async () => {
    const page = await dashboard.window();
    await page.goto('/');
    await page.getByText('Nobody has claimed this dashboard yet').waitFor();
    expect(await page.getByRole('textbox').count()).toBe(0);
    await page.goto('/setup#00000000000000000000000000000000000000000000');
    await page.getByText('This link no longer works').waitFor();
  });

  test('leads from the link over a key to the first message', async () => {
    const page = await dashboard.window();
    await page.goto(dashboard.setupPath());
    const { name, password } = ADMIN;
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('Password', { exact: true }).fill('too short');
    await page.getByRole('button', { name: 'Claim this dashboard' }).click();
    await page.locator('[aria-invalid="true"]').waitFor();
    // It is told once what is missing, and that belongs to the field.
    expect(await page.getByText(/characters are needed/).allInnerTexts()).toEqual([
      '3 more characters are needed.',
    ]);
    expect(page.url()).toContain('/setup#');
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Claim this dashboard' }).click();
    await page.waitForURL('**/first-steps');
    expect(page.url()).not.toContain('#');

    await page.getByRole('heading', { name: 'What captured mail means' }).waitFor();
    await page.getByRole('button', { name: 'Understood' }).click();
    await page.getByLabel('Name of the key').fill('shop');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByText('Waiting for the message').waitFor();
    await page.getByRole('button', { name: 'Copy command' }).click();
    const command = await page.evaluate<string>('navigator.clipboard.readText()');

    const { stdout } = await run('bash', ['-c', command]);
    expect(JSON.parse(stdout)).toMatchObject({ id: expect.stringMatching(/^msg_/), status: 'delivered' });
    // Each way is a tab that keys reach, with the key while it is shown.
    await page.getByRole('tab', { name: 'curl' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Copy send.mjs' }).waitFor();
    secret = /MAIL_KEY=(wb_live_\w+)/.exec(command)?.[1] ?? '';
    await page.getByText(`export MAIL_KEY=${secret}`).waitFor();
    await page.getByRole('link', { name: 'Your order' }).click();
    await page.waitForURL('**/messages/msg_*');
    await page.getByRole('heading', { name: 'Your order' }).waitFor();
    await page.getByText('Thank you.').first().waitFor();
    await page.goto('/first-steps');
    const again = page.getByRole('listitem').filter({ hasText: 'The first message' });
    await again.getByRole('button', { name: 'Look again' }).click();
    await page.getByText('export MAIL_KEY=YOUR_API_KEY').waitFor();
    expect(await page.content()).not.toContain(secret);
  });

  test('a key that is revoked is refused from then on', async () => {
    const send = () =>
      fetch(`${dashboard.server.api}/api/v1/messages`, { headers: { Authorization: `Bearer ${secret}` } });
    expect((await send()).status).toBe(200);
    const page = await dashboard.signedIn('/settings/api-keys');
    await page.getByRole('button', { name: 'What to do with shop' }).click();
    await page.getByRole('menuitem', { name: 'Revoke' }).click();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(async () => (await send()).status).toBe(401);
  });

  test('the guided path comes back under Help', async () => {
    const page = await dashboard.signedIn('/');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByRole('link', { name: 'First steps' }).click();
    await page.getByRole('heading', { name: 'First steps' }).waitFor();
  });

  test('the certificate that clients refuse gives way to one by an authority, and that to one’s own', async () => {
    const page = await dashboard.signedIn('/settings/certificate');
    await page.getByText('Clients that check certificates refuse a self-signed one').waitFor();
    authority.faults.rateLimited = '7200';
    const values = { 'tls.acme.domains': ['mail.example.com'], 'tls.acme.agree_terms': true };
    await createControlClient(dashboard.installation.dataDir).putSettings({ values });
    await page.getByText('The last order failed').waitFor();
    await page.getByText('too many certificates for this name').waitFor();

    authority.faults.rateLimited = null;
    await page.getByRole('button', { name: 'Order now' }).click();
    await page.getByRole('button', { name: 'Order it' }).click();
    await page.getByText('Ordered by ACME, and renewed by itself').waitFor();
    await page.getByText('The last order failed').waitFor({ state: 'detached' });
    await page.getByText('CN=Test Authority').waitFor();

    const { cert, key } = createCertificate({ hosts: ['uploaded.example.com'] });
    await page.getByRole('button', { name: 'Upload' }).click();
    await page.getByLabel('Certificate and its intermediates').fill(cert);
    await page.getByLabel('Private key').fill(key);
    await page.getByRole('button', { name: 'Use this certificate' }).click();
    await page.getByText('Uploaded here').waitFor();
    await page.getByText('Not while the certificate in use is your own').waitFor();
    await page.getByRole('button', { name: 'Replace by ACME' }).waitFor();
  });
});
