import { once } from 'node:events';
import { createServer as createWebServer } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { unwrap } from '../../src/client/result.ts';
import { createCertificate } from '../peers/certificate.ts';
import { describeWith } from '../peers/need.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { CAPTURING, Dashboard, NEEDED } from './dashboard.ts';
import { settled, tooWide } from './looks.ts';

/** What strangers wrote runs nothing and loads nothing, wherever it is shown (design §11). */

const SCRIPT = '<script>alert(1)</script>';
const IMAGE = '<img src="https://evil.example/x.png" onerror="alert(2)">';
const LONG = 'W'.repeat(300);
const BIDI = '\u202egnp.exe';
/** Over HTTP a subject or a file name of this kind is refused; in a finished message it is what it is. */
const TURNED = [
  'From: a@example.com',
  'To: b@example.net',
  `Subject: =?utf-8?B?${Buffer.from(`turned ${BIDI}`).toString('base64')}?=`,
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  'Content-Type: text/plain',
  '',
  'Visible words',
  '--b',
  'Content-Type: text/html',
  `Content-Disposition: attachment; filename*=utf-8''${encodeURIComponent(`file${BIDI}`)}`,
  '',
  'x',
  '--b--',
  '',
].join('\r\n');
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg==',
  'base64',
);
/** A page made to run and to load; `EVIL` is a server that listens. */
const HOSTILE_HTML = `
  <html><head><meta http-equiv="refresh" content="0;url=EVIL/refresh">
  <link rel="stylesheet" href="EVIL/style.css"><link rel="dns-prefetch" href="EVIL">
  <link rel="preconnect" href="EVIL"><base href="EVIL/">
  <style>@import url(EVIL/import.css); body { background: url(EVIL/bg.png) }</style></head>
  <body onload="alert(3)"><p>Visible words</p>${SCRIPT}${IMAGE}
  <iframe src="EVIL/frame"></iframe><object data="EVIL/object"></object>
  <video src="EVIL/v.mp4" autoplay></video><audio src="EVIL/a.mp3" autoplay></audio>
  <svg onload="alert(4)"><image href="EVIL/svg.png"/></svg>
  <form action="EVIL/form"><input autofocus onfocus="alert(5)"><button>Send</button></form>
  <a href="javascript:alert(6)">click</a><a id="out" href="EVIL/out" target="_top">out</a>
  <script>top.location = 'EVIL/top'; fetch('EVIL/fetch')</script></body></html>`;

describeWith(NEEDED, 'what strangers wrote', () => {
  let dashboard: Dashboard;
  let sink: SmtpSink;
  const ids: string[] = [];
  /** Connections that anything made to where hostile mail points. */
  let knocks = 0;
  const evil = createServer(() => {
    knocks++;
  });

  /** What was asked of the server that remote pictures are on, which would like to know by whom. */
  const asked: { readonly path: string; readonly tells: readonly string[] }[] = [];
  const pictures = createWebServer(
    createCertificate({ hosts: ['127.0.0.1'] }),
    ({ url, headers }, response) => {
      const tells = ['cookie', 'referer', 'origin', 'authorization'].filter((name) => name in headers);
      asked.push({ path: url ?? '', tells });
      response.writeHead(200, { 'Content-Type': 'image/png', 'Set-Cookie': 'seen=1; Secure; SameSite=None' });
      response.end(PIXEL);
    },
  );

  beforeAll(async () => {
    await once(evil.listen(0, '127.0.0.1'), 'listening');
    await once(pictures.listen(0, '127.0.0.1'), 'listening');
    const { port } = evil.address() as AddressInfo;
    sink = await startSmtpSink({ script: { RCPT: () => `550 5.1.1 ${SCRIPT}${IMAGE}` } });
    dashboard = await Dashboard.start(`${CAPTURING}
delivery: { default_relay: inbox }
relays: [{ name: out, type: smtp, host: 127.0.0.1, port: ${sink.port}, tls: none }]
routes: [{ name: out, match: { tag: out }, via: [out] }]
`);
    await dashboard.claim();
    const client = await dashboard.client(`key ${SCRIPT}`);
    const common = {
      from: `"${SCRIPT}" <a@example.com>`,
      subject: `${SCRIPT} ${IMAGE} ${LONG}`,
      text: `${SCRIPT} https://example.com/"onmouseover="alert(7)`,
      html: HOSTILE_HTML.replaceAll('EVIL', `http://127.0.0.1:${port}`),
      metadata: { note: SCRIPT },
      attachments: [
        {
          filename: `<b onclick=alert(8)>bold.html`,
          content: new TextEncoder().encode(SCRIPT),
          contentType: 'text/html',
        },
      ],
    };
    for (const tag of [SCRIPT, 'out'])
      ids.push(await client.send({ ...common, to: ['b@example.net'], tags: [tag, LONG.slice(0, 128)] }));
    const raw = await client.api.sendRaw(TURNED, {
      from: 'a@example.com',
      to: 'b@example.net',
      tags: ['out'],
    });
    ids.push(unwrap(raw).id);
    const shows = `https://127.0.0.1:${(pictures.address() as AddressInfo).port}`;
    const html =
      `${HOSTILE_HTML}<img src="EVIL/cookie.png" crossorigin="use-credentials" referrerpolicy="unsafe-url"><img src="/own.png">`
        .replaceAll('https://evil.example', 'EVIL')
        .replaceAll('EVIL', shows);
    ids.push(await client.send({ from: 'a@example.com', to: ['b@example.net'], subject: 'Pictures', html }));
    await Promise.all(ids.map((id) => client.end(id)));
    await fetch(client.messages, { headers: { authorization: `Bearer ${SCRIPT}` } });
  }, 120_000);
  afterAll(async () => {
    await dashboard.stop();
    await sink.close();
    evil.close();
    pictures.close();
  });

  const [wide, phone] = [{ width: 1280 }, { width: 390, height: 844 }];
  test.each([
    ['/', wide],
    ['/messages', wide],
    ['/messages', phone],
    ['/queue', wide],
    ['/inbox', phone],
    ['/settings/api-keys', wide],
    ['/activity', wide],
    ['/system', wide],
  ])('runs nothing on %s', async (path, look) => {
    const page = await dashboard.signedIn(path, look);
    await page.getByRole('heading').first().waitFor();
    await settled(page);
    await expect.poll(() => tooWide(page)).toEqual([]);
    expect([[...dashboard.strays], dashboard.surprises.filter(isAttack), knocks]).toEqual([[], [], 0]);
    await page.context().close();
  });

  test.each([0, 1])('runs nothing where message %i is read, in any form', async (place) => {
    const page = await dashboard.signedIn(`/messages/${ids[place]}`);
    await page
      .getByRole('heading', { name: /script/ })
      .first()
      .waitFor();
    const frame = page.frameLocator('iframe').first();
    await frame.getByText('Visible words').waitFor();
    await page.getByRole('button', { name: 'Dark mode' }).click();
    await page.locator('iframe[src$="scheme=dark"]').waitFor();
    await frame.getByText('Visible words').waitFor();
    for (const tab of ['Text', 'Source', /Headers/, /Attachments/]) {
      await page.getByRole('tab', { name: tab }).click();
      await settled(page);
    }
    await expect.poll(() => tooWide(page)).toEqual([]);
    expect([[...dashboard.strays], dashboard.surprises.filter(isAttack), knocks]).toEqual([[], [], 0]);
    expect(page.url()).toContain(dashboard.url);
    await page.context().close();
  });

  test('fetches pictures only where they were asked for, each once, and tells their server nothing of who asked', async () => {
    const page = await dashboard.signedIn(`/messages/${ids[0]}`);
    await page.goto(`/messages/${ids[3]}`);
    const { port } = pictures.address() as AddressInfo;
    const at = { domain: '127.0.0.1', path: '/', secure: true, sameSite: 'None' } as const;
    await page.context().addCookies([{ name: 'known', value: '1', ...at }]);
    const frame = page.frameLocator('iframe').first();
    await frame.getByText('Visible words').waitFor();
    await page.getByText('4 remote pictures are not shown').waitFor();
    await page.getByRole('button', { name: 'Show pictures…' }).click();
    await page.getByRole('dialog').getByText('from which IP address').waitFor();
    await settled(page);
    expect([[...dashboard.strays], asked]).toEqual([[], []]);
    await page.getByRole('dialog').getByRole('button', { name: 'Show pictures' }).click();
    const paths = ['/bg.png', '/cookie.png', '/svg.png', '/x.png'];
    await expect.poll(() => asked.map(({ path }) => path).sort()).toEqual(paths);
    const from = paths.map((path) => `https://127.0.0.1:${port}${path}`);
    const strays = () => [...dashboard.strays].sort();
    await expect.poll(strays).toEqual([...from, 'https://nothing.invalid/own.png']);
    dashboard.strays.clear();
    await page.getByRole('button', { name: 'Hide pictures' }).click();
    await frame.getByText('Visible words').waitFor();
    await settled(page);
    expect(asked.map(({ tells }) => tells)).toEqual(paths.map(() => []));
    expect([dashboard.surprises.filter(isAttack), knocks]).toEqual([[], 0]);
    // Back leaves the message, and does not lead its frame to where pictures were shown.
    await page.goBack();
    await expect.poll(() => page.url()).toContain(`/messages/${ids[0]}`);
    await frame.getByText('Visible words').waitFor();
    await settled(page);
    expect([asked.length, dashboard.strays.size]).toEqual([4, 0]);
    await page.goForward();
    await page.getByText('4 remote pictures are not shown').waitFor();
    await settled(page);
    expect([asked.length, dashboard.strays.size]).toEqual([4, 0]);
    await page.context().close();
  });

  test.each([wide, phone])(
    'marks that turn text are shown as escapes, in subjects and file names',
    async (look) => {
      const page = await dashboard.signedIn('/messages', look);
      await page.getByText('\\u202egnp.exe', { exact: false }).first().waitFor();
      await page.goto(`/messages/${ids[2]}`);
      await page.getByRole('heading', { name: '\\u202egnp.exe' }).first().waitFor();
      await page.getByRole('tab', { name: /Attachments/ }).click();
      await page.getByText('file[U+202E]gnp.exe').first().waitFor();
      expect(await page.title()).toContain('\\u202egnp.exe');
      expect(await page.locator('body').innerText()).not.toContain('\u202e');
      await page.context().close();
    },
  );

  test('runs nothing where the preview is opened by itself, of its own origin', async () => {
    const page = await dashboard.signedIn('/');
    await page.goto(`/preview/${ids[0]}?view=html`);
    await page.getByText('Visible words').waitFor();
    expect(await page.evaluate<string>('window.origin')).toBe('null');
    expect(dashboard.surprises.filter(isAttack)).toEqual([]);
    expect([...dashboard.strays]).toEqual([]);
  });

  test('a file in it is saved, never opened', async () => {
    const page = await dashboard.signedIn('/');
    const answer = await page.request.get(`/api/messages/${ids[0]}/parts/0`);
    expect(answer.headers()).toMatchObject({
      'content-disposition': expect.stringMatching(/^attachment/),
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining('sandbox'),
    });
    expect(answer.headers()['content-type']).not.toContain('html');
  });
});

/** A policy that keeps something out says so; that it had to, in a frame made of mail, is no surprise. */
function isAttack(surprise: string): boolean {
  return !surprise.startsWith('policy:');
}
