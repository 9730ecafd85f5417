import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../peers/need.ts';
import { CAPTURING, Dashboard, NEEDED } from './dashboard.ts';

/** Where a provider tells what became of mail: its URL, what it lacks, and another URL. */

describeWith(NEEDED, 'the webhook of a relay', () => {
  let dashboard: Dashboard;

  beforeAll(async () => {
    dashboard = await Dashboard.start(`${CAPTURING}
server: { public_url: https://mail.example.com }
delivery: { default_relay: inbox }
`);
    await dashboard.claim();
    const { installation } = dashboard;
    const child = installation.spawn('relays', 'add', 'rs', '--type', 'resend', '--secret-file', '-');
    child.stdin.end('re_key\n');
    const code = await new Promise((resolve) => child.once('exit', resolve));
    expect(code).toBe(0);
  }, 60_000);
  afterAll(async () => {
    await dashboard.stop();
    expect([[...dashboard.strays], dashboard.surprises]).toEqual([[], []]);
  });

  test('is shown with what it lacks, is given its secret alone, and gets another URL', async () => {
    const page = await dashboard.signedIn('/relays/rs');
    await page.getByText('It refuses everything for now').waitFor();
    const url = page.getByText(/^https:\/\/mail\.example\.com\/hooks\/rs\/[0-9a-f]{32}$/);
    const before = await url.innerText();

    await page.goto('/relays/rs?tab=edit');
    await page.getByText('What proves the events').click();
    await page.getByLabel('Webhook secret').fill('whsec_c2VjcmV0');
    await page.getByRole('button', { name: 'Review and save' }).click();
    await page.getByText('The secret of its webhooks is replaced.').waitFor();
    await page.getByRole('button', { name: 'Save the changes' }).click();
    await page.getByText('rs was changed').waitFor();

    await page.goto('/relays/rs');
    await page.getByText('Last proven').waitFor();
    expect(await page.getByText('It refuses everything for now').count()).toBe(0);
    await page.getByRole('button', { name: 'New URL' }).click();
    await page.getByRole('button', { name: 'Make a new URL' }).click();
    await page.getByText('The webhook has a new URL').waitFor();
    await page.getByText('works until').waitFor();
    expect(await url.innerText()).not.toBe(before);
    expect(await page.content()).not.toMatch(/whsec_|re_key/);
  });
});
