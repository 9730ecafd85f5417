import { hasPublicSuffix } from '../lib/organizational-domain.ts';
import { linksOf, ownerOf, webAddress } from './links.ts';
import type { Rule } from './rule.ts';

/** What runs, or holds a document of its own, when it is clicked. */
const UNSAFE_SCHEME = /^(?:javascript|vbscript|data|file):/i;
/** Control characters and blanks, which browsers ignore before and within a scheme. */
const IGNORED = /[\0-\x20]+/g;

/** Files that Gmail refuses, in archives too: https://support.google.com/mail/answer/6590, as of November 2026. */
const REFUSED_FILES: ReadonlySet<string> = new Set(
  'ade adp apk appx appxbundle bat cab chm cmd com cpl diagcab diagcfg diagpkg dll dmg ex ex_ exe hta img ins iso isp jar jnlp js jse lib lnk mde mjs msc msi msix msixbundle msp mst nsh pif ps1 scr sct shb sys vb vbe vbs vhd vxd wsc wsf wsh xll'.split(
    ' ',
  ),
);

/** Elements that clients remove. */
const ACTIVE: ReadonlySet<string> = new Set(['script', 'iframe', 'frame', 'object', 'embed', 'applet']);
/** Scripts that are data, which some clients read. */
const DATA_SCRIPT = /^application\/(?:ld\+)?json$/i;

/** Rules on what clients remove, and what filters treat as fraud. */
export const LINK_RULES: readonly Rule[] = [
  {
    code: 'link-unsafe',
    severity: 'error',
    looksAt: 'links',
    finds: 'a link that runs a script, or holds what it shows',
    *find({ html }) {
      for (const { href, line } of linksOf(html)) {
        const plain = href.replace(IGNORED, '');
        if (!UNSAFE_SCHEME.test(plain)) continue;
        const scheme = plain.slice(0, plain.indexOf(':') + 1).toLowerCase();
        yield {
          where: `/html#L${line}`,
          detail: `A link begins with ${scheme}, which clients remove and filters treat as an attack.`,
          fix: 'Link to a page on the web.',
        };
      }
    },
  },
  {
    code: 'link-text-host',
    severity: 'warning',
    looksAt: 'links, their text',
    finds: 'a link that shows one host and leads to another',
    *find({ html }) {
      for (const { href, text, line } of linksOf(html)) {
        const target = webAddress(href);
        const shown = shownAddress(text);
        if (target === null || shown === null || ownerOf(target) === ownerOf(shown)) continue;
        yield {
          where: `/html#L${line}`,
          detail: `A link shows ${shown.hostname}, but leads to ${target.hostname}: phishing looks like that.`,
          fix: 'Show words instead of an address, or link through a subdomain of the domain that is shown.',
        };
      }
    },
  },
  {
    code: 'html-active',
    severity: 'warning',
    looksAt: 'HTML',
    finds: 'scripts, frames or plug-ins',
    *find({ html }) {
      for (const { name, attributes, line } of html?.elements ?? []) {
        if (!ACTIVE.has(name) || (name === 'script' && DATA_SCRIPT.test(attributes['type'] ?? ''))) continue;
        yield {
          where: `/html#L${line}`,
          detail: `Mail clients remove <${name}>, and it makes filters suspicious.`,
          fix: 'Leave it out, and link to a page that has it.',
        };
      }
    },
  },
  {
    code: 'attachment-refused',
    severity: 'error',
    looksAt: 'attachments',
    finds: 'a type that Gmail and others refuse',
    *find({ files }) {
      for (const [place, name] of files.entries()) {
        const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
        if (!name.includes('.') || !REFUSED_FILES.has(ending)) continue;
        yield {
          where: `/attachments/${place}`,
          detail: `Gmail refuses messages with files of the type .${ending}, and so do others (${name}).`,
          fix: 'Offer it for download, and link to it.',
        };
      }
    },
  },
];

/** The address that the text of a link shows; null if it does not look like one. */
function shownAddress(text: string): URL | null {
  if (/\s/.test(text) || text.includes('@')) return null;
  if (/^https?:\/\//i.test(text)) return knownHost(webAddress(text));
  // A name alone may be that of a file or a product, such as README.md or ASP.NET.
  if (/^www\./i.test(text) || /^[a-z0-9-]+(?:\.[a-z0-9-]+)+\/\S/.test(text))
    return knownHost(webAddress(`https://${text}`));
  return null;
}

function knownHost(url: URL | null): URL | null {
  return url !== null && hasPublicSuffix(url.hostname) ? url : null;
}
