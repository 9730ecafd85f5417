/** The code blocks of a document that are marked as recipes, by name: those that tests run as they stand there. */
export function recipesOf(markdown: string): ReadonlyMap<string, string> {
  const blocks = markdown.matchAll(/^```\w+ recipe=(\w+)\n(.*?)^```$/gms);
  return new Map([...blocks].map(([, name = '', code = '']) => [name, code]));
}
