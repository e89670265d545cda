import { createHash } from "node:crypto";
import { createManualClock, createPetStore, type PetStore } from "@petstore/core";
import type { Page } from "playwright-core";

/** 24 November 2026, 12:00 UTC. */
const NOON = Date.UTC(2026, 10, 24, 12);
const DAY = 86_400_000;

/** Creates a store in memory with keys in all states, with usage, and with pets, for screenshots of the console. */
export async function createDemoStore(): Promise<PetStore> {
  const clock = createManualClock(NOON - 40 * DAY);
  let drawn = 0;
  // So that pictures of it differ only when the console does.
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

/** Keys, and how often they are used. */
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

/** The main states of the console of the demo store, each reached from the one before. */
export const STATES: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  keys: (page) => link(page, "Mobile app").waitFor(),
  issue: async (page) => {
    await button(page, "Issue a key").click();
    await dialog(page).getByLabel("Label").fill("Rescue North");
    await dialog(page).getByLabel("Plan").selectOption("enterprise");
  },
  secret: async (page) => {
    await dialog(page).getByLabel("Plan").selectOption("pro");
    await button(page, "Issue").click();
    await page.getByText("The secret is shown only now.").waitFor();
  },
  key: async (page) => {
    await button(page, "I have stored it").click();
    await button(page, "banned 1").click();
    await page.getByText("1 to 1 of 1 (of").waitFor();
    await link(page, "Price scraper").click();
    await button(page, "Lift the ban").waitFor();
  },
  revoke: async (page) => {
    await button(page, "Revoke…").click();
    await dialog(page).getByRole("textbox").fill("Price scr");
  },
  rotate: async (page) => {
    await button(page, "Cancel").click();
    await button(page, "Rotate…").click();
    await dialog(page).getByRole("combobox").selectOption("0");
    await button(page, "Rotate").click();
  },
  pets: async (page) => {
    await button(page, "Cancel").click();
    await link(page, "Pets").click();
    await page.getByText("Hedwig").waitFor();
  },
  refused: async (page) => {
    await button(page, "Add a pet").click();
    await dialog(page).getByLabel("Name").fill("Rex");
    await dialog(page).getByLabel("Category").fill("1.5");
    await button(page, "Add").click();
    await page.getByText("categoryId must be an int64 integer").waitFor();
  },
};
