import { createHash } from "node:crypto";
import { createManualClock, createPetStore, type PetStore } from "@petstore/core";
import type { Page } from "playwright-core";

const NOON = Date.UTC(2026, 10, 24, 12);
const DAY = 86_400_000;

/** Creates a store in memory with keys in all states, with usage, and with pets, for screenshots of the console. */
export async function createDemoStore(): Promise<PetStore> {
  const clock = createManualClock(NOON - 40 * DAY);
  let drawn = 0;
  const random = (size: number): Uint8Array =>
    createHash("shake256", { outputLength: size }).update(`demo ${drawn++}`).digest();
  const store = createPetStore({ clock, random });
  const issue = async (label: string, plan: string, more: object = {}) => {
    clock.advance(3 * 3_600_000);
    return (await store.keys.issue({ plan, label, ...more }))._unsafeUnwrap();
  };
  const use = async (secret: string, times: number): Promise<void> => {
    for (let index = 0; index < times; index += 1) await store.as(secret).listPets({ limit: 1 });
  };

  for (const [name, categoryId, status] of PETS)
    await store.trusted.createPet({ name, categoryId, status });
  await store.keys.revoke((await issue("Trial of October", "free")).key.id);
  await issue("Zoo Basel (pilot)", "free", { expiresAt: NOON - 5 * DAY });
  const issued = [];
  for (const [label, plan, count, more] of KEYS)
    issued.push({ ...(await issue(label, plan, more)), count });
  clock.advance(NOON - clock.now() - 30_000);
  for (const { secret, count } of issued) await use(secret, count);
  await store.keys.rotate(issued[1]?.key.id ?? "", { overlapSeconds: 86_400 });
  const { secret: scraper = "" } = issued[6] ?? {};
  await use(scraper, 61);
  clock.advance(2_000);
  await use(scraper, 70);
  clock.advance(9_000);
  return store;
}

const KEYS: readonly (readonly [label: string, plan: string, count: number, more?: object])[] = [
  ["Adopt-a-pet, website", "business", 640],
  ["Happy Paws, Lyon", "pro", 212],
  ["Tierheim München", "pro", 41],
  ["Katzenhaus Zürich", "free", 57],
  ["Breeders' union", "enterprise", 1_300, { limits: { perMinute: 5_000, perDay: 2_000_000 } }],
  ["Weekend fair", "free", 3, { expiresAt: NOON + 3 * DAY }],
  ["Price scraper", "free", 0],
  ["Mobile app", "business", 18],
];

const PETS = [
  ["Rex", 7n, "available"],
  ["Mimi", 2n, "available"],
  ["Bello", 7n, "pending"],
  ["Гром", 7n, "available"],
  ["Nemo", 9_223_372_036_854_775_807n, "sold"],
  ["Hedwig", 12n, "available"],
] as const;

export const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
export const dialog = (page: Page) => page.getByRole("dialog");
export const link = (page: Page, name: string) => page.getByRole("link", { name });

/** The fields of the page itself; the others are in its dialog. */
const OF_PAGE = /^(?:Search|From id|Order)$/;

export type Step = string | RegExp | (() => Promise<void>) | Readonly<Record<string, string>>;

/** Presses these buttons and links (the last, if several have the name), fills in these fields, and waits for these texts, one after the other. */
export async function perform(page: Page, ...steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    if (typeof step === "string") {
      const named = page.getByRole("link", { name: step, exact: true });
      await button(page, step).or(named).last().click();
    } else if (step instanceof RegExp) await page.getByText(step).waitFor();
    else if (typeof step === "function") await step();
    else
      for (const [label, value] of Object.entries(step)) {
        const field = (OF_PAGE.test(label) ? page : dialog(page)).getByLabel(label);
        await (/^(Plan|Status|Order|is accepted)$/.test(label)
          ? field.selectOption(value)
          : field.fill(value));
      }
  }
}
