import type { RequestOf } from '../../../../src/operations/table.ts';
import type { Endpoint } from './words.ts';

/** An endpoint as it is filled in. */
export interface WebhookForm {
  readonly url: string;
  readonly description: string;
  readonly types: readonly string[];
  readonly keys: readonly string[];
  readonly tags: readonly string[];
  /** Subjects of messages go along. */
  readonly subject: boolean;
  readonly headers: readonly Header[];
}

/** A header of every request. */
export interface Header {
  readonly name: string;
  readonly value: string;
}

/** Most of them. */
export const MAX_HEADERS = 5;

/** Nothing filled in. */
export const NEW_WEBHOOK: WebhookForm = {
  url: '',
  description: '',
  types: ['message.*'],
  keys: [],
  tags: [],
  subject: false,
  headers: [],
};

/** The form of an endpoint that is there. */
export function formOf({ url, description, types, keys, tags, include, headers }: Endpoint): WebhookForm {
  return {
    url,
    description,
    types,
    keys,
    tags,
    subject: include.includes('subject'),
    headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
  };
}

/** What is asked for; rows of headers that are empty are left out. */
export function requestOf(form: WebhookForm): Omit<RequestOf<'addWebhook'>, 'enabled'> {
  const { url, description, types, keys, tags, subject, headers } = form;
  return {
    url: url.trim(),
    description: description.trim(),
    types: [...types],
    keys: [...keys],
    tags: [...tags],
    include: subject ? ['subject'] : [],
    headers: Object.fromEntries(filled(headers).map(({ name, value }) => [name.trim(), value.trim()])),
  };
}

/** What is asked to be changed: the fields that differ. What was not touched may name what is no longer there. */
export function changeOf(of: Endpoint, form: WebhookForm): Partial<ReturnType<typeof requestOf>> {
  const [before, after] = [requestOf(formOf(of)), requestOf(form)];
  const same = (name: keyof typeof after) => JSON.stringify(before[name]) === JSON.stringify(after[name]);
  const names = (Object.keys(after) as (keyof typeof after)[]).filter((name) => !same(name));
  return Object.fromEntries(names.map((name) => [name, after[name]]));
}

/** What is wrong with a form by itself, by field. */
export function checkWebhook({ url, types, headers }: WebhookForm) {
  const names = filled(headers).map(({ name }) => name.trim().toLowerCase());
  return {
    url: url.trim() === '' ? 'Enter a URL.' : null,
    types: types.length === 0 ? 'Choose at least one type of event.' : null,
    headers: names.includes('')
      ? 'Enter a name for each header.'
      : new Set(names).size < names.length
        ? 'Two headers have the same name.'
        : null,
  };
}

function filled(headers: readonly Header[]): readonly Header[] {
  return headers.filter(({ name, value }) => name.trim() !== '' || value.trim() !== '');
}
