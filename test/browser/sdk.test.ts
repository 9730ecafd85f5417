import { SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { messageUuid } from '../../src/lib/id.ts';
import { describeWith } from '../peers/need.ts';
import { Dashboard, NEEDED } from './dashboard.ts';
import { tooWide } from './looks.ts';

/** What somebody wants of the dashboard who sends with the SDK of a provider: what it signs with, and the way back from its ids. */

describeWith(NEEDED, 'who sends with an SDK', () => {
  let dashboard: Dashboard;
  let page: Page;

  beforeAll(async () => {
    dashboard = await Dashboard.start();
    await dashboard.claim();
    page = await dashboard.signedIn('/settings/api-keys');
  }, 60_000);
  afterAll(async () => {
    await dashboard.stop();
    expect([[...dashboard.strays], dashboard.surprises]).toEqual([[], []]);
  });

  const dialog = () => page.getByRole('dialog');
  const secrets = async () => {
    await dialog().getByText('AWS_SECRET_ACCESS_KEY=').waitFor();
    const [, id = '', secret = ''] =
      /AWS_ACCESS_KEY_ID=(WB[A-Z2-7]{18})\s+AWS_SECRET_ACCESS_KEY=(\S+)/.exec(await dialog().innerText()) ??
      [];
    return { accessKeyId: id, secretAccessKey: secret };
  };
  const send = async (credentials: Awaited<ReturnType<typeof secrets>>) => {
    const client = new SESv2Client({
      region: 'eu-central-1',
      endpoint: `http://127.0.0.1:${dashboard.server.runtime.api}`,
      credentials,
    });
    const { MessageId } = await client.send(
      new SendEmailCommand({
        FromEmailAddress: 'shop@example.com',
        Destination: { ToAddresses: ['ann@example.net'] },
        Content: { Simple: { Subject: { Data: 'From an SDK' }, Body: { Text: { Data: 'Hi' } } } },
      }),
    );
    return MessageId ?? '';
  };

  test('is given an access key of SES with a key, sees which keys have one, and rotates it', async () => {
    await page.getByRole('button', { name: 'Create key' }).first().click();
    await dialog().getByLabel('Name').fill('aws');
    await dialog().getByRole('checkbox', { name: 'Amazon SES clients use it' }).click();
    await dialog().getByRole('button', { name: 'Create key' }).click();
    const first = await secrets();
    expect(await send(first)).toMatch(/^msg_/);
    await dialog().getByRole('button', { name: 'I have copied it' }).click();
    const row = page.getByRole('row').filter({ hasText: 'aws' });
    await row.getByText('SES', { exact: true }).waitFor();
    expect(await page.content()).not.toContain(first.secretAccessKey);
    await row.getByRole('button', { name: /^aws/ }).click();
    await dialog().getByText(first.accessKeyId).waitFor();
    await page.keyboard.press('Escape');
    await row.getByRole('button', { name: 'What to do with aws' }).click();
    await page.getByRole('menuitem', { name: 'Rotate: a new secret' }).click();
    await dialog().getByRole('button', { name: 'Make a new secret' }).click();
    const second = await secrets();
    expect(second.accessKeyId).not.toBe(first.accessKeyId);
    for (const one of [first, second]) expect(await send(one)).toMatch(/^msg_/);
    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(() => tooWide(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test('comes back to a message by any of its ids, as it was pasted', async () => {
    const shop = await dashboard.client('shop');
    const letter = { from: 'a@example.com', to: ['ann@example.net'], text: 'Hi' };
    const id = await shop.send({ ...letter, subject: 'The one' });
    await shop.send({ ...letter, subject: 'Another' });
    const { messageId } = await shop.end(id);
    const search = page.getByLabel('Search messages');
    for (const name of [id, messageUuid(id), String(messageId)]) {
      await page.goto('/messages');
      await search.fill(`  ${name} `);
      await page.getByRole('heading', { name: 'The one' }).waitFor();
      expect(new URL(page.url()).pathname).toBe(`/messages/${id}`);
    }
    await page.goto(`/messages/${messageUuid(id)}`);
    await page.getByRole('heading', { name: 'The one' }).waitFor();
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/messages/${id}`);
    await page.goto('/messages');
    await search.fill('5b2f8f0e-7d4c-4b6e-9a3d-0c1e2f3a4b5c');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing found').waitFor();
  });
});
