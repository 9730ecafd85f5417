import { type Finding, SEVERITIES, type Way } from './contract.ts';
import type { Mail } from './mail.ts';
import type { Found, Rule } from './rule.ts';

/** Most findings of a message. */
export const MAX_FINDINGS = 100;
/** How many places one rule tells of; the last says how many more there are. */
export const MAX_PLACES = 10;
/** Further places are not counted. */
const MAX_COUNTED = 1_000;
/** Characters of a text of a finding: what it quotes may be long. */
const MAX_TEXT = 500;

/** What the rules find, the worst first. */
export function checkMail(mail: Mail, way: Way, rules: readonly Rule[]): Finding[] {
  const found = rules.flatMap((rule) => placesOf(rule, mail, way));
  const rank = ({ severity }: Finding) => SEVERITIES.indexOf(severity);
  return found.sort((a, b) => rank(a) - rank(b)).slice(0, MAX_FINDINGS);
}

function placesOf(rule: Rule, mail: Mail, way: Way): Finding[] {
  const told: Found[] = [];
  let more = 0;
  for (const found of rule.find(mail, way)) {
    if (told.length < MAX_PLACES) told.push(found);
    else if (++more >= MAX_COUNTED) break;
  }
  const { code, severity } = rule;
  return told.map(({ where, detail, fix }, place) => {
    const others = place === told.length - 1 && more > 0 ? ` ${moreText(more)}` : '';
    return { code, severity, where, detail: `${bounded(detail)}${others}`, fix: bounded(fix) };
  });
}

function moreText(more: number): string {
  if (more === 1) return 'There is one more place like this.';
  return `There are ${more >= MAX_COUNTED ? 'at least ' : ''}${more} more places like this.`;
}

function bounded(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`;
}
