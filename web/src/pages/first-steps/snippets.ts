import { quoted } from '../../quoted.ts';

/**
 * How programs send, as the dashboard shows it. Their texts are recipes of docs/recipes.md, which tests run as they stand there:
 * they read where to send, and the key, from the environment, so that no program has a key in it.
 */
export interface Snippet {
  /** The name of its recipe. */
  readonly recipe: string;
  readonly label: string;
  /** The file it is; null: lines to paste into a terminal. */
  readonly file: string | null;
  /** What runs that file. */
  readonly run: string;
  /** Said above it. */
  readonly needs: string;
  /** The variable by which it is told of a certificate that it is to trust; null: it has another way. */
  readonly trust: string | null;
  readonly over: 'http' | 'smtp';
}

/** The code blocks of a document that are marked as recipes, by name: those that tests run as they stand there. */
export function recipesOf(markdown: string): ReadonlyMap<string, string> {
  const blocks = markdown.matchAll(/^```\w+ recipe=(\w+)\n(.*?)^```$/gms);
  return new Map([...blocks].map(([, name = '', code = '']) => [name, code]));
}

const HTTP = { over: 'http' } as const;

/** In the order in which they are shown. */
export const SNIPPETS: readonly Snippet[] = [
  {
    ...HTTP,
    recipe: 'curl',
    label: 'curl',
    file: null,
    run: '',
    needs: 'Needs curl 7.76 or newer.',
    trust: 'CURL_CA_BUNDLE',
  },
  {
    ...HTTP,
    recipe: 'node',
    label: 'Node',
    file: 'send.mjs',
    run: 'node send.mjs',
    needs: 'Needs Node.js 18 or newer and the client: npm install ./waybill-1.0.0.tgz, which npm pack makes.',
    trust: 'NODE_EXTRA_CA_CERTS',
  },
  {
    ...HTTP,
    recipe: 'python',
    label: 'Python',
    file: 'send.py',
    run: 'python3 send.py',
    needs: 'Needs requests: pip install requests.',
    trust: 'REQUESTS_CA_BUNDLE',
  },
  {
    ...HTTP,
    recipe: 'php',
    label: 'PHP',
    file: 'send.php',
    run: 'php send.php',
    needs: 'Needs PHP 8 with its curl extension.',
    trust: null,
  },
  {
    ...HTTP,
    recipe: 'ruby',
    label: 'Ruby',
    file: 'send.rb',
    run: 'ruby send.rb',
    needs: 'Needs Ruby 2.5 or newer.',
    trust: 'SSL_CERT_FILE',
  },
  {
    ...HTTP,
    recipe: 'go',
    label: 'Go',
    file: 'send.go',
    run: 'go run send.go',
    needs: 'Needs nothing else.',
    trust: 'SSL_CERT_FILE',
  },
  {
    ...HTTP,
    recipe: 'java',
    label: 'Java',
    file: 'Send.java',
    run: 'java Send.java',
    needs: 'Needs Java 17 or newer.',
    trust: null,
  },
  {
    over: 'smtp',
    recipe: 'smtp_swaks',
    label: 'SMTP',
    file: null,
    run: '',
    needs: 'The same with swaks, to try it. Its TLS needs Debian’s libnet-ssleay-perl.',
    trust: 'SSL_CERT_FILE',
  },
];

/** What a snippet is filled in with. */
export interface SnippetFacts {
  /** Of the API, such as `http://localhost:8025`; null where it is off. */
  readonly apiUrl: string | null;
  readonly smtp: { readonly host: string; readonly port: number } | null;
  readonly secret: string;
  /** A domain that the key may send from; null: none is known. */
  readonly domain: string | null;
  /** Clients must be told to trust the certificate. */
  readonly selfSigned: boolean;
}

/** A snippet as it is shown: the file if it is one, and the lines for a terminal. */
export interface ShownSnippet {
  readonly code: string | null;
  readonly command: string;
}

/** Domains in the only form that no language could take for code. */
const PLAIN_DOMAIN = /^[a-z0-9.-]+$/i;

/** A recipe with the facts of this installation. Null: no port takes it. */
export function shownSnippet(snippet: Snippet, recipe: string, facts: SnippetFacts): ShownSnippet | null {
  const place = placeOf(snippet, facts);
  if (place === null) return null;
  const lines = Object.entries({ ...place, MAIL_KEY: facts.secret, ...trusting(snippet, facts) }).map(
    ([name, value]) => `export ${name}=${quoted(value)}`,
  );
  const { domain } = facts;
  const code =
    domain !== null && PLAIN_DOMAIN.test(domain)
      ? recipe.replaceAll('shop@example.com', `shop@${domain}`)
      : recipe;
  const isFile = snippet.file !== null;
  return {
    code: isFile ? code : null,
    command: [...lines, isFile ? snippet.run : code.trimEnd()].join('\n'),
  };
}

/** Where it sends to, by the variables that recipes read; null: that is off. */
function placeOf({ over }: Snippet, { apiUrl, smtp }: SnippetFacts): Readonly<Record<string, string>> | null {
  if (over === 'http') return apiUrl === null ? null : { MAIL_URL: apiUrl.replace(/\/+$/, '') };
  return smtp === null ? null : { MAIL_HOST: smtp.host, MAIL_PORT: String(smtp.port) };
}

/** Whether a snippet meets the certificate, and it is self-signed. */
export function meetsSelfSigned({ over }: Snippet, { apiUrl, selfSigned }: SnippetFacts): boolean {
  return selfSigned && (over === 'smtp' || apiUrl?.startsWith('https:') === true);
}

function trusting(snippet: Snippet, facts: SnippetFacts): Readonly<Record<string, string>> {
  return snippet.trust !== null && meetsSelfSigned(snippet, facts) ? { [snippet.trust]: 'tls.crt' } : {};
}
