/** Words that say nothing of what a tool does: function words, and how people ask. */

const FUNCTION_WORDS = `
a an the and or but nor so than too very just also only own same such both each few more most other others some any all none no
not if then else of to in on at by for from with without into onto over under about as is are was were be been being am do does
did doing done have has had having i me my mine myself we us our ours you your yours he him his she her hers it its they them
their theirs this that these those there here what which who whom whose when where why how can could should would will shall may
might must cannot dont doesnt im ive id lets s t re ve ll within across between among during after before while until since above
below up down out off again further once per etc via`;

const ASKING_WORDS = `
please help want wants need needs like let get gets give show tell make makes provide use uses using used know thanks thank hi
hello hey think try trying look looking ask asking consider considering plan planning going ensure`;

const VAGUE_WORDS = `
one two three four five six seven eight nine ten first second third information info detail details detailed specific particular
tool tools task tasks based include includes including included following given good best better well able way ways various
multiple different several certain something anything everything someone now today tomorrow yesterday current currently recent
recently much many lot really quite kind sort directly along brief briefly final finally complete completely comprehensive
comprehensively approximate main important special right accordingly respectively available possible potential initial generally
least`;

/** The default stop words, as they are written, not stemmed: they are neither indexed nor looked for. */
export const STOP_WORDS: ReadonlySet<string> = wordsOf(FUNCTION_WORDS);

/** Words that count little in a query, but may be what a tool is called (`get_current_time`). */
export const WEAK_WORDS: ReadonlySet<string> = wordsOf(`${ASKING_WORDS} ${VAGUE_WORDS}`);

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter((word) => word !== ''));
}
