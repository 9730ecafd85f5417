/** The options that describe a relay, each for one field of its definition. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  isAlwaysRequired,
  isSecret,
  RELAY_FIELDS,
  type RelayRow,
  relayField,
  type SecretField,
} from '../config/relay-fields.ts';
import type { GivenSecret } from '../config/relay-secrets.ts';
import { isProviderType, RELAY_TYPES } from '../config/relay-types.ts';
import { OperationError } from '../operations/call.ts';
import { type CommonOptions, type Context, collect, wholeNumber } from './context.ts';
import { Exit, promptForSecret, readSecretFile } from './terminal.ts';

/** What describes a relay, besides the options for single fields. */
export interface DescribingOptions extends CommonOptions {
  readonly type?: string;
  readonly auth?: string;
}

/** An option, and the field it gives; a secret's names a file. */
interface FieldOption {
  readonly row: RelayRow;
  readonly flag: string;
  readonly option: Option;
}

const OPTIONS: readonly FieldOption[] = RELAY_FIELDS.flatMap(optionFor);
const FIELD_OPTIONS = OPTIONS.filter(({ row }) => !row.secret);
const SECRET_OPTIONS = OPTIONS.filter(({ row }) => row.secret);

function optionFor(row: RelayRow): FieldOption[] {
  if (row.option === undefined) return [];
  const { value, flag = `--${row.name.replaceAll('_', '-')}${row.secret ? '-file' : ''}` } = row.option;
  const option = new Option(value === '' ? flag : `${flag} ${value}`, helpOf(row, row.option));
  const { kind, choices, range, items } = row.kind.form;
  if (kind === 'choice') option.choices(choices);
  if (kind === 'integer' && range !== null) option.argParser(wholeNumber(...range));
  if (kind === 'list' && items === 'integer') option.argParser(wholeNumbers);
  else if (kind === 'list') option.argParser(collect);
  return [{ row, flag, option }];
}

/** Gives a command the options that describe a relay. */
export function withRelayOptions(command: Command, isTypeNeeded: boolean): Command {
  const type = new Option(
    '--type <type>',
    "smtp, a smarthost; mx, the recipients' own servers; or a provider",
  );
  command.addOption(type.choices(RELAY_TYPES).makeOptionMandatory(isTypeNeeded));
  for (const { option } of [...FIELD_OPTIONS, ...SECRET_OPTIONS]) command.addOption(option);
  return command;
}

function helpOf(row: RelayRow, { help, whose }: NonNullable<RelayRow['option']>): string {
  const types = row.types?.map((type) => (row.oauth && type === 'smtp' ? 'smtp with --auth xoauth2' : type));
  const head = whose ?? types?.join(', ');
  const required = whose === undefined && isAlwaysRequired(row) ? '; required' : '';
  const input = row.secret ? '; - for standard input' : '';
  // A provider cannot do without: nobody needs to name a file.
  const asked = row.secret && row.requiredFor !== undefined ? ' (default: asked for)' : '';
  return `${head === undefined ? '' : `${head}: `}${help}${required}${input}${asked}`;
}

/** The options as a definition of the configuration file, without any secret. */
export function definitionOf(name: string, options: DescribingOptions): Record<string, unknown> {
  return { name, type: options.type, ...fieldsOf(options) };
}

/** The fields that options were given for. */
export function fieldsOf(options: object): Record<string, unknown> {
  const given = new Map<string, unknown>(Object.entries(options));
  const fields = FIELD_OPTIONS.flatMap(({ row, option }) => {
    const value = given.get(option.attributeName());
    // An option that is there to switch something off: said nothing, it is the default of the type.
    const isSaid = option.negate ? value === false : value !== undefined;
    return isSaid ? [[row.name, value] as const] : [];
  });
  return Object.fromEntries(fields);
}

/** Whether any file of secrets is named. */
export function namesSecret(options: DescribingOptions): boolean {
  return secretFiles(options).length > 0;
}

/** Whether a secret will be read or asked for. Throws `Exit` where its option is another type's. */
export function takesSecret(options: DescribingOptions): boolean {
  const { type = '', auth } = options;
  const isProvider = isProviderType(type);
  const files = secretFiles(options);
  if (isProvider && files.some(({ field }) => field === 'password'))
    throw new Exit(2, `Type ${type} has no password: give --secret-file.`);
  const usual: readonly SecretField[] = isProvider ? ['secret', 'webhook_secret'] : ['password'];
  const other = files.find(({ field }) => !usual.includes(field));
  if (other !== undefined && !(type === 'smtp' && auth === 'xoauth2')) {
    const instead =
      type === 'smtp'
        ? ': give a password for AUTH with --password-file; others belong to --auth xoauth2'
        : '';
    throw new Exit(2, `Type ${type} has no such secret as ${other.flag}${instead}.`);
  }
  return isProvider || namesSecret(options);
}

/** The secrets that the options name; a provider's is asked for where no file is named. Throws `Exit`. */
export async function secretOf(
  options: DescribingOptions,
  { terminal }: Context,
): Promise<GivenSecret | null> {
  const { type = '' } = options;
  const given = await givenSecretOf(options);
  if (!isProviderType(type) || given?.secret !== undefined) return given;
  const { label, byType } = relayField('secret');
  const asked = byType?.[type]?.label ?? label;
  const secret = await promptForSecret(
    terminal,
    `${asked}: `,
    `A relay of type ${type} needs its ${asked.toLowerCase()}: give --secret-file FILE, or --secret-file - and the secret on standard input.`,
  );
  return given === null ? secret : { ...given, secret };
}

/** The secrets in the files that are named, whatever the type; null where none is. Throws `Exit`. */
export async function givenSecretOf(
  options: DescribingOptions,
): Promise<Exclude<GivenSecret, string> | null> {
  const files = secretFiles(options);
  if (files.length === 0) return null;
  if (files.filter(({ path }) => path === '-').length > 1)
    throw new Exit(2, 'Standard input can hold only one secret: use files for the others.');
  const secrets: Partial<Record<SecretField, string>> = {};
  for (const { field, path } of files)
    secrets[field] = await readSecretFile(path, field.replace('_', ' '), field === 'service_account');
  return secrets;
}

interface SecretFile {
  readonly field: SecretField;
  readonly path: string;
  readonly flag: string;
}

function secretFiles(options: DescribingOptions): readonly SecretFile[] {
  const given = new Map<string, unknown>(Object.entries(options));
  return SECRET_OPTIONS.flatMap(({ row: { name }, flag, option }) => {
    const path = given.get(option.attributeName());
    return isSecret(name) && typeof path === 'string' ? [{ field: name, path, flag }] : [];
  });
}

/** What an operation on a definition gives; its errors name the options that were typed. */
export async function inOptions<T>(operation: Promise<T>): Promise<T> {
  return await operation.catch((error: unknown) => {
    if (!(error instanceof OperationError)) throw error;
    throw new OperationError(error.code, byOptions(error.message), { cause: error });
  });
}

function wholeNumbers(text: string): readonly number[] {
  const numbers = text.split(',').map((part) => (/^\s*\d{1,15}\s*$/.test(part) ? Number(part) : Number.NaN));
  if (!numbers.some(Number.isNaN)) return numbers;
  throw new InvalidArgumentError('It must be whole numbers separated by commas, such as 50,100,200.');
}

/** What is typed for a field that is told apart from the others. */
const OTHER_FLAGS: Readonly<Record<string, string>> = { name: 'name', type: '--type' };
const TYPED_FAULT = /^relay[.](\w+)(?:\[\d+\])?(?: = (.*?))?: (.*) \(command line\)$/;

/** What is wrong with a definition, by the options that were typed and not by the fields that they stand for. */
function byOptions(message: string): string {
  return message.split('\n').map(faultByOption).join('\n');
}

function faultByOption(line: string): string {
  const [, field, value = '', rule = ''] = TYPED_FAULT.exec(line) ?? [];
  const flag = field === undefined ? null : flagOf(field);
  if (flag === null) return line;
  const shown = value === '' || flag.startsWith('--no-') ? '' : ` ${value}`;
  // That it may be left out is nothing to type.
  const said = rule.replace(/, or null$/, '').replace(/\b\w+_\w+\b/g, (word) => flagOf(word) ?? word);
  return `${flag}${shown}: ${said}`;
}

function flagOf(field: string): string | null {
  return OPTIONS.find(({ row }) => row.name === field)?.flag ?? OTHER_FLAGS[field] ?? null;
}
