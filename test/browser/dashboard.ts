/** The dashboard in a real browser, over a real server: what the tests of pages begin with. */
import { type Browser, type BrowserContext, chromium, type Page, request } from 'playwright-core';
import { Client, createKey } from '../e2e/service.ts';
import { BROWSER, locate } from '../peers/need.ts';
import { Installation, type RunningServer } from '../peers/server.ts';

/** Programs without which these tests cannot run. */
export const NEEDED = [BROWSER];

/** Nothing on a page takes longer; machines may have other work. */
const PATIENCE_MS = 60_000;

/** The first administrator. */
export const ADMIN = { name: 'admin', password: 'correct horse battery' } as const;

/** Free ports, and mail that is captured. */
export const CAPTURING = `
api: { port: 0, bind: ["127.0.0.1"], rate_limit_per_key: 0 }
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [0], bind: ["127.0.0.1"] }
`;

type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>;

/** What a browser window is to be like. */
export interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: 'light' | 'dark';
  /** Where the browser says it is; UTC wherever the tests run. */
  readonly timezoneId?: string;
}

/** A host name that the browser takes for this machine, though not for a secure place as it does `localhost`. */
export const HOST_NAME = 'mail.waybill.test';

/** Starts a browser. */
export async function launchBrowser(program = BROWSER): Promise<Browser> {
  return await chromium.launch({
    executablePath: locate(program) ?? program,
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--disable-gpu',
      `--host-resolver-rules=MAP ${HOST_NAME} 127.0.0.1`,
    ],
  });
}

/** Browsers by their programs. Each serves all files of tests that run in this process, and ends with it. */
const browsers = new Map<string, Promise<Browser>>();

/** The browser that the tests of this process share. */
async function sharedBrowser(program: string): Promise<Browser> {
  const browser = browsers.get(program) ?? launchBrowser(program);
  browsers.set(program, browser);
  return await browser;
}

/** Ends them at once: for a program that ends before its process would. */
export async function endBrowsers(): Promise<void> {
  for (const browser of browsers.values()) await (await browser).close();
}

/** A server with a dashboard that somebody has claimed, and windows of a browser. */
export class Dashboard {
  readonly installation: Installation;
  readonly server: RunningServer;
  readonly #browser: Browser;
  readonly #contexts: BrowserContext[] = [];
  /** Of the first administrator, once there is one. */
  #session: StorageState | null = null;
  /** Every request for anywhere else that the policy did not keep back; must stay empty. */
  readonly strays = new Set<string>();
  /** Dialogs that a page opened by itself, and what it threw; must stay empty. */
  readonly surprises: string[] = [];

  private constructor(installation: Installation, server: RunningServer, browser: Browser) {
    this.installation = installation;
    this.server = server;
    this.#browser = browser;
  }

  /** Starts a server. */
  static async start(configuration = CAPTURING, program = BROWSER): Promise<Dashboard> {
    const installation = new Installation(configuration);
    try {
      const server = await installation.start();
      return new Dashboard(installation, server, await sharedBrowser(program));
    } catch (error) {
      installation.remove();
      throw error;
    }
  }

  /** The same by a name: an address has no passkeys. */
  get namedUrl(): string {
    return `https://localhost:${this.server.runtime.webui}`;
  }

  /** The same by a name whose certificate the browser does not trust; `webui.allowed_hosts` must have the name. */
  get untrustedUrl(): string {
    return `https://${HOST_NAME}:${this.server.runtime.webui}`;
  }

  get url(): string {
    return `https://127.0.0.1:${this.server.runtime.webui}`;
  }

  /** A window of its own, signed in nowhere. */
  async window(look: Look = {}): Promise<Page> {
    return await this.#open(look, null);
  }

  /** A window whose user is signed in as the first administrator, on this page. All of them share one session. */
  async signedIn(path = '/', look: Look = {}): Promise<Page> {
    this.#session ??= await this.#signIn('login', ADMIN);
    const page = await this.#open(look, this.#session);
    await page.goto(path);
    return page;
  }

  /** The first administrator's session, as a page would get it: what pages do for that has tests of its own. */
  async #signIn(way: 'login' | 'setup', data: object): Promise<StorageState> {
    // Pages name a session by it.
    const userAgent = `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/${this.#browser.version()} Safari/537.36`;
    const browser = await request.newContext({ baseURL: this.url, ignoreHTTPSErrors: true, userAgent });
    try {
      const answer = await browser.post(`/api/session/${way}`, { data, headers: { origin: this.url } });
      if (!answer.ok()) throw new Error(`${way} was answered with ${answer.status()}`);
      return await browser.storageState();
    } finally {
      await browser.dispose();
    }
  }

  async #open(
    { width = 1280, height = 800, colorScheme = 'light', timezoneId = 'UTC' }: Look,
    storageState: StorageState | null,
  ): Promise<Page> {
    const context = await this.#browser.newContext({
      ignoreHTTPSErrors: true,
      viewport: { width, height },
      colorScheme,
      timezoneId,
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
      baseURL: this.url,
      ...(storageState !== null && { storageState }),
    });
    this.#contexts.push(context);
    await this.#watch(context);
    context.setDefaultTimeout(PATIENCE_MS);
    return await context.newPage();
  }

  /** Claims the dashboard by the link that the server printed. */
  async claim(): Promise<void> {
    await this.server.printed(/\/setup#\S+\s/);
    const [, token] = this.setupPath().split('#');
    this.#session = await this.#signIn('setup', { token, ...ADMIN });
  }

  /** The set-up link that the server printed, as a path. */
  setupPath(): string {
    const found = /https:\S+(\/setup#\S+)/.exec(this.server.output);
    if (found?.[1] === undefined) throw new Error(`no set-up link was printed:\n${this.server.output}`);
    return found[1];
  }

  /** A client of the API with a key of its own. */
  async client(...options: readonly string[]): Promise<Client> {
    return new Client(this.server, await createKey(this.installation, ...options));
  }

  async stop(): Promise<void> {
    for (const context of this.#contexts) await context.close();
    await this.server.end('SIGKILL');
    this.installation.remove();
  }

  async #watch(context: BrowserContext): Promise<void> {
    context.on('request', (request) => {
      const url = request.url();
      const isOurs = [this.url, this.namedUrl, this.untrustedUrl].some((own) => url.startsWith(`${own}/`));
      if (!isOurs && !/^(data|blob|about):/.test(url)) this.strays.add(url);
    });
    context.on('requestfailed', (request) => {
      if (request.failure()?.errorText === 'csp') this.strays.delete(request.url());
    });
    context.on('dialog', (dialog) => {
      this.surprises.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    context.on('weberror', (error) => this.surprises.push(`thrown: ${error.error().message}`));
    context.on('console', (message) => {
      if (message.type() === 'error' && /Content Security Policy|Refused to/i.test(message.text()))
        this.surprises.push(`policy: ${message.text()}`);
    });
  }
}
