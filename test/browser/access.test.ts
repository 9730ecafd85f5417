import { createHmac } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../peers/need.ts';
import { ADMIN, CAPTURING, Dashboard, HOST_NAME, NEEDED } from './dashboard.ts';
import { faultsByAxe, settled } from './looks.ts';

/** From then on `left` has all that had the focus and was not over the page. */
const LEFT = `
  var left = [];
  addEventListener('focusin', ({ target }) => target.closest('#root') && left.push(target.outerHTML.slice(0, 120)));
  addEventListener('blur', ({ target }) => target === window && left.push('the browser'));
`;

/** What has the focus, unless it is seen; null: nothing of the page has it, as behind the last stop. */
const HIDDEN = `(async () => {
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  await Promise.allSettled(document.getAnimations().map(({ finished }) => finished));
  const at = document.activeElement;
  if (at === document.body) return null;
  const { left, top, width, height } = at.getBoundingClientRect();
  const seen = document.elementFromPoint(left + width / 2, Math.min(top + height / 2, innerHeight - 1));
  return at.contains(seen) || at.closest('label')?.contains(seen) ? [] : [at.outerHTML.slice(0, 120)];
})()`;

/** Signing in, with a second factor too; what a viewer sees; every page by keys alone. */
describeWith(NEEDED, 'who uses the dashboard', () => {
  let dashboard: Dashboard;

  beforeAll(async () => {
    // Others reach it by this name. It goes on capturing when it has a relay.
    const named = CAPTURING.replace('webui: {', `webui: { allowed_hosts: [${HOST_NAME}],`);
    dashboard = await Dashboard.start(`${named}delivery: { default_relay: inbox }\n`);
    await dashboard.claim();
  }, 60_000);
  afterAll(async () => {
    await dashboard.stop();
    expect([[...dashboard.strays], dashboard.surprises]).toEqual([[], []]);
  });

  test('is not told whether name or password was wrong', async () => {
    const page = await dashboard.window();
    for (const name of [ADMIN.name, 'nobody']) {
      await page.goto('/messages');
      await signIn(page, name, 'not the password');
      await page.getByRole('alert').waitFor();
      expect(await page.getByRole('alert').innerText()).toMatch(/name or (the )?password/i);
    }
  });

  test('comes to the page that was asked for, and leaves by signing out', async () => {
    const page = await dashboard.window();
    await page.goto('/queue');
    await signIn(page, ADMIN.name, ADMIN.password);
    await page.getByRole('heading', { name: 'Queue' }).waitFor();
    await page.getByRole('button', { name: /admin/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto('/messages');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  test('is shown the page although its code could not be fetched at first', async () => {
    const page = await dashboard.window();
    let refused = 0;
    await page.route(/\/assets\/page-[^/]*\.js$/, (route) =>
      refused++ === 0 ? route.abort('failed') : route.continue(),
    );
    await page.goto('/messages');
    await page.getByLabel('Name').waitFor();
    expect(refused).toBeGreaterThan(1);
  });

  test.each(['css', 'js'])(
    'is shown the page although its %s could not be fetched at first',
    async (kind) => {
      const page = await dashboard.signedIn('/queue');
      let asked = 0;
      await page.route(`**/assets/index-*.${kind}`, (route) =>
        asked++ === 0 ? route.abort() : route.continue(),
      );
      await page.goto('/');
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      await expect.poll(() => page.evaluate('getComputedStyle(document.body).margin')).toBe('0px');
      expect(asked).toBeGreaterThan(1);
      await page.context().close();
    },
  );

  test('keeps the shell while the server is away, and goes on when it is back, the browser offline or not', async () => {
    const page = await dashboard.signedIn('/queue');
    await page.getByRole('heading', { name: 'Queue' }).waitFor();
    await page.evaluate("window.dispatchEvent(new Event('offline'))");
    await page.route('**', (route) => route.abort('connectionrefused'));
    await page.getByRole('link', { name: 'Reputation' }).click();
    await page.getByText(/^No connection since \d\d:\d\d, trying again\.$/).waitFor();
    await page.waitForURL('**/reputation');
    await page.getByRole('link', { name: 'Queue' }).click();
    await page.getByRole('heading', { name: 'Queue' }).waitFor();
    await page.getByRole('link', { name: 'Reputation' }).click();
    await page.unroute('**');
    await page.getByRole('heading', { name: 'Reputation' }).waitFor();
    await settled(page);
    await page.getByText('No connection').waitFor({ state: 'detached' });
  });

  test('goes where the keys say', async () => {
    const page = await dashboard.signedIn('/');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    for (const [keys, heading] of [
      ['gm', 'Messages'],
      ['gq', 'Queue'],
      ['gr', 'Relays'],
      ['gs', 'Settings'],
      ['gy', 'System'],
    ] as const) {
      for (const key of keys) await page.keyboard.press(key);
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    }
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Search, if the page has one').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    for (const key of 'gm') await page.keyboard.press(key);
    await page.getByRole('heading', { name: 'Messages' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('status:failed');
    await page.keyboard.press('Enter');
    await page.waitForURL(/q=status/);
  });

  test('finds what is pasted, and does what is typed, by keys alone', async () => {
    const { installation } = dashboard;
    await installation.run(...'relays add out --type smtp --host mail.example'.split(' '));
    const client = await dashboard.client('app');
    const id = await client.send({
      from: 'a@example.com',
      to: ['b@example.net'],
      subject: 'To be found',
      text: 'Hi.',
    });
    const page = await dashboard.signedIn('/messages');
    await page.getByRole('link', { name: 'To be found' }).waitFor();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const field = page.getByRole('combobox', { name: 'Find or do' });

    // Also from a field, which has the focus again afterwards.
    await page.keyboard.press('/');
    await page.keyboard.press('Control+k');
    await field.waitFor();
    expect(await faultsByAxe(page)).toEqual([]);
    for (const key of ['Tab', 'Tab', 'Tab', 'Shift+Tab']) await page.keyboard.press(key);
    await page.locator('[role=dialog] :focus').waitFor();
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
    await page.locator('[data-search]:focus').waitFor();

    await page.keyboard.press('Meta+k');
    await field.waitFor();
    await page.keyboard.type(id);
    await page.getByRole('option', { name: 'To be found', selected: true }).waitFor();
    expect(asked.filter((url) => url.endsWith('/api/call/message'))).toHaveLength(1);
    const active = await field.getAttribute('aria-activedescendant');
    expect(await page.locator(`[id="${active}"]`).innerText()).toContain('To be found');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/messages/${id}`);
    await page.locator('main h1:focus', { hasText: 'To be found' }).waitFor();

    await page.keyboard.press('Control+k');
    await page.keyboard.type('pause ou');
    await page.getByRole('option', { name: 'Pause out', selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Pause relay' }).press('Enter');
    await page.getByText('out is paused.').waitFor();

    await page.keyboard.press('Control+k');
    await page.keyboard.type('theme');
    await page.getByRole('option', { name: 'Theme: as the system', selected: true }).waitFor();
    for (const key of ['ArrowUp', 'ArrowDown', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
    await page.keyboard.press('Enter');
    await page.locator('html[data-theme=dark]').waitFor();

    await page.keyboard.press('Control+k');
    await page.keyboard.type('api key');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Create an API key' }).getByLabel('Name').waitFor();

    // Whoever may do less is offered less.
    await page.route('**/api/session', async (route) => {
      const response = await route.fetch();
      const session = (await response.json()) as { readonly user: object };
      await route.fulfill({ response, json: { ...session, user: { ...session.user, role: 'viewer' } } });
    });
    await page.goto('/');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    // What is typed while its code still comes is not lost, and goes to no page.
    const pressed = Promise.withResolvers<void>();
    await page.route('**/assets/palette-*.js', async (route) => {
      // While Ctrl is still down, letters are commands.
      await pressed.promise;
      await page.keyboard.type('out');
      await route.continue();
    });
    await page.keyboard.press('Control+k');
    pressed.resolve();
    await page.getByRole('option', { name: /^out\s*Relay/ }).waitFor();
    expect(await page.getByRole('option').allInnerTexts()).toEqual([
      expect.stringMatching(/^out/),
      'Sign out',
      'Search messages for “out”',
    ]);
    await page.context().close();
  });

  test('keeps the focus in what lies over the page, however fast Tab is pressed', async () => {
    const page = await dashboard.signedIn('/users');
    await page.getByRole('table', { name: 'Users' }).waitFor();
    await page.evaluate(LEFT);
    for (const open of [
      () => page.keyboard.press('Control+k'),
      () => page.keyboard.press('?'),
      () => page.getByRole('button', { name: 'Add user' }).press('Enter'),
    ]) {
      await open();
      await page.locator('[role=dialog] :focus').waitFor();
      await page.evaluate('left.length = 0');
      // All at once: a frame that is drawn in between makes this less strict, and never fail.
      for (const key of ['Tab', 'Shift+Tab'])
        await Promise.all(Array.from({ length: 25 }, () => page.keyboard.press(key)));
      await page.evaluate("document.querySelector('main button').focus()");
      expect(await page.evaluate('left')).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await page.goto('/relays?add=choose');
    await page.locator('[role=dialog] :focus').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('main h1:focus', { hasText: 'Relays' }).waitFor();
    await page.context().close();
  });

  test('sees on a phone what has the focus, on the way down and up', async () => {
    const page = await dashboard.signedIn('/users', { width: 390, height: 420 });
    for (const path of ['/users', '/settings/smtp']) {
      await page.goto(path);
      await page.locator('main h1').waitFor();
      await settled(page);
      const stopped: (string[] | null)[] = [];
      for (const key of ['Tab', 'Shift+Tab'])
        for (let stops = 0; stops < 25; stops++) {
          await page.keyboard.press(key);
          stopped.push(await page.evaluate<string[] | null>(HIDDEN));
        }
      expect([path, stopped.flatMap((hidden) => hidden ?? [])]).toEqual([path, []]);
      expect(stopped.filter((hidden) => hidden === null).length).toBeLessThan(stopped.length / 2);
    }
    await page.context().close();
  });

  test('is told, before a story is shared by a link, that it names who is in Bcc', async () => {
    const client = await dashboard.client('blind');
    const bcc = ['c@example.org', 'd@example.org'];
    const letter = { from: 'a@example.com', subject: 'Told', text: 'Hi.' };
    const id = await client.send({ ...letter, to: ['b@example.net'], bcc });
    const page = await dashboard.signedIn(`/messages/${id}`);
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Share by a link…' }).click();
    const words = '2 recipients are in Bcc. Whoever has the link sees their addresses, too.';
    await page.getByRole('dialog').getByText(words).waitFor();
    await page.context().close();
  });

  test('saves what a list shows, goes back to it, and takes the link of a page along', async () => {
    const page = await dashboard.signedIn('/messages?q=status:failed');
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Save this view…' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Broken mail');
    await page.getByRole('button', { name: 'Save view' }).click();
    const views = page.getByRole('button', { name: 'Broken mail' });
    await views.click();
    await page.getByRole('menuitem', { name: 'Copy link' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
      `${dashboard.url}/messages?q=status:failed`,
    );
    await page.goto('/messages');
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Broken mail' }).click();
    await page.waitForURL('**/messages?q=status:failed');
    await views.click();
    await page.getByRole('menuitem', { name: 'Manage views…' }).click();
    await page.getByRole('button', { name: 'What to do with Broken mail' }).click();
    await page.getByRole('menuitem', { name: 'Share with everybody here' }).click();
    await page.getByRole('dialog').getByText('Shared', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'What to do with Broken mail' }).click();
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    await page.getByText('No saved views').waitFor();
  });

  test('is invited by mail, as long as the link is to work, and the list says what became of that', async () => {
    const page = await dashboard.signedIn('/users');
    const add = async (name: string, to: string) => {
      await page.getByRole('button', { name: 'Add user' }).click();
      await page.getByRole('dialog').getByLabel('Name').fill(name);
      await page.getByLabel('Send the link to').fill(to);
      await page.getByLabel('The link works for').click();
      await page.getByRole('option', { name: '3 days' }).click();
      await page.getByRole('button', { name: 'Add user', exact: true }).last().click();
    };
    await add('bea', 'bea@example.org');
    const link = await page.getByRole('dialog').getByLabel('link', { exact: true }).innerText();
    expect(link).toMatch(new RegExp(`^https://${HOST_NAME}:\\d+/setup#`));
    await page.getByRole('button', { name: 'I have copied it' }).click();
    const row = page.getByRole('row').filter({ hasText: 'bea@example.org' });
    await row.getByText('Captured', { exact: true }).waitFor();
    await row.getByText(/^Link ends in [23] d$/).waitFor();
    // The order of a table is in the address, and so in its link.
    await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').dblclick();
    await page.waitForURL('**/users?sort=-Name');
    await page.reload();
    const first = page.getByRole('table', { name: 'Users' }).getByRole('row').nth(1);
    await first.getByText('bea@example.org').waitFor();
    await row.getByRole('link', { name: 'bea@example.org' }).click();
    await page.getByText('An invitation is shown to nobody').waitFor();
  });

  test('is asked for no password by waybill dev, so there is nothing to do with one', async () => {
    const page = await dashboard.signedIn('/');
    await page.route('**/api/session', async (route) => {
      const response = await route.fetch();
      const firstSteps = { skipped: false, hasKey: true, hasMessage: true, hasRelay: false };
      await route.fulfill({ response, json: { ...(await response.json()), resident: true, firstSteps } });
    });
    await page.goto('/account');
    await page.getByText('Nobody signs in here').waitFor();
    expect(await page.getByLabel('Password').count()).toBe(0);
    await page.goto('/first-steps');
    await page.getByRole('heading', { name: 'The first message' }).waitFor();
    const steps = page.getByRole('main').getByRole('listitem').getByRole('heading');
    expect(await steps.count()).toBe(3);
    expect(await steps.filter({ hasText: /password|relay/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'To the overview' }).waitFor();
    await page.getByRole('button', { name: /admin/ }).click();
    await page.getByRole('menuitem', { name: 'First steps' }).waitFor();
    expect(await page.getByRole('menuitem', { name: /Sign out|Your account/ }).count()).toBe(0);
  });

  test('sets up a second factor, and needs it from then on', async () => {
    const page = await dashboard.signedIn('/account');
    await page.getByRole('button', { name: 'Set up' }).click();
    // The dialog begins in its field, so that keys alone are enough.
    await page.getByRole('dialog').locator('input[name="password"]:focus').fill(ADMIN.password);
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByText('Or type this key into it').waitFor();
    const secret = await page
      .getByRole('dialog')
      .getByText(/^[A-Z2-7]{16,}$/)
      .innerText();
    const code = codeOf(secret, Date.now());
    await page.getByLabel('The code that it shows now').fill(code);
    await page.getByRole('button', { name: 'Turn it on' }).click();
    const recovery = await page.getByRole('dialog').getByRole('listitem').first().innerText();
    await page.getByRole('button', { name: 'I have kept them' }).click();

    const other = await dashboard.window();
    await other.goto('/');
    await signIn(other, ADMIN.name, ADMIN.password);
    await other.getByRole('heading', { name: 'One more step' }).waitFor();
    // A code works once: the one that turned it on is spent.
    await other.getByLabel('Code').fill(code);
    await other.getByText(/not right|wrong|used/i).waitFor();
    await other.getByRole('button', { name: /recovery code/i }).click();
    await other.getByLabel('Recovery code').fill(recovery);
    await other.getByLabel('Recovery code').press('Enter');
    await other.getByRole('heading', { name: 'Overview' }).waitFor();
  });
});

async function signIn(page: Page, name: string, password: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** The code of an authenticator app (RFC 6238) for a secret in base32. */
function codeOf(secret: string, atMs: number): string {
  const bits = [...secret].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  );
  const bytes =
    bits
      .join('')
      .match(/.{8}/g)
      ?.map((byte) => Number.parseInt(byte, 2)) ?? [];
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(atMs / 30_000)));
  const digest = createHmac('sha1', Buffer.from(bytes)).update(counter).digest();
  const offset = (digest.at(-1) ?? 0) & 15;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}
