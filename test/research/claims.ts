/** Sixty claims about the pages that ship with the service, written for these tests. */
export interface TableClaim {
  readonly claim: string;
  readonly kind: 'supported' | 'contradicted' | 'without evidence';
  /** Pages and words of the passage that supports or contradicts it. */
  readonly evidence: readonly { readonly page: string; readonly words: string }[];
}

const on = (page: string, words: string) => ({ page, words });
const supported = (claim: string, ...evidence: TableClaim['evidence']): TableClaim => ({
  claim,
  kind: 'supported',
  evidence,
});
const contradicted = (claim: string, ...evidence: TableClaim['evidence']): TableClaim => ({
  claim,
  kind: 'contradicted',
  evidence,
});
const without = (claim: string): TableClaim => ({ claim, kind: 'without evidence', evidence: [] });

export const CLAIMS: readonly TableClaim[] = [
  supported(
    'In midsummer a tomato in the ground wants roughly 20 litres of water every week.',
    on('kitchen-plot/watering-tomatoes', '20 litres'),
  ),
  supported(
    'Spores of late blight need a leaf to stay wet for around ten hours.',
    on('kitchen-plot/watering-tomatoes', 'ten hours'),
  ),
  supported(
    'A bed made from untreated larch can be expected to hold for eight to ten years.',
    on('kitchen-plot/raised-beds', 'eight to ten years'),
  ),
  supported(
    'A wire mesh with openings of 12 millimetres protects a raised bed against voles.',
    on('kitchen-plot/raised-beds', '12 millimetres'),
  ),
  supported(
    'You can sow peas once the soil has warmed to 5 degrees.',
    on('kitchen-plot/sowing-peas', 'five degrees'),
  ),
  supported(
    'Potatoes stored next to apples sprout, because apples release ethylene.',
    on('kitchen-plot/storing-potatoes', 'ethylene'),
  ),
  supported('A single ladybird larva consumes about 400 aphids.', on('kitchen-plot/ladybirds', '400 aphids')),
  supported(
    'Compost works best with 25 parts carbon per part nitrogen.',
    on('green-journal/compost', '25 parts of carbon'),
  ),
  supported(
    'Tomato pollen fails when temperatures rise above 32 degrees during the day.',
    on('green-journal/tomato-care', 'above 32'),
  ),
  supported('Brown grass recovers within ten days of rain.', on('green-journal/lawn', 'ten days after')),
  supported(
    'Whole coffee beans taste best one to four weeks after they were roasted.',
    on('bean-notes/storing-beans', 'one and four weeks'),
  ),
  supported(
    'EU rules limit caffeine in decaffeinated beans to 0.1 percent.',
    on('bean-notes/decaf', '0.1 percent'),
  ),
  supported(
    'A double shot of espresso takes 18 grams of ground coffee.',
    on('bean-notes/espresso-basics', '18 grams'),
  ),
  supported('Cold brew has to steep between 12 and 18 hours.', on('brew-desk/cold-brew', '12 to 18 hours')),
  supported(
    'For descaling, dissolve 30 grams of citric acid in a litre of cold water.',
    on('brew-desk/descaling', '30 grams'),
  ),
  supported(
    'Butyl inner tubes lose half a bar of pressure per month.',
    on('slow-wheels/tyre-pressure', 'half a bar'),
  ),
  supported(
    'Bike helmets should be exchanged after five years even without an accident.',
    on('city-bike-guide/helmets', 'after five years'),
  ),
  supported(
    'After some 700 full cycles an e-bike battery still has 80 percent of its capacity.',
    on('city-bike-guide/e-bike-batteries', '700 full charges'),
  ),
  supported(
    'Standby devices in a typical home draw 40 watts around the clock.',
    on('watt-watch/standby', '40 watts'),
  ),
  supported('The core of a finished loaf measures 96 degrees.', on('bread-bench/crust', '96 degrees')),

  contradicted(
    'Tomatoes get by with 5 litres of water a week in high summer.',
    on('kitchen-plot/watering-tomatoes', '20 litres'),
    on('green-journal/tomato-care', '40 litres'),
  ),
  contradicted(
    'Larch boards in a raised bed survive at least 25 years.',
    on('kitchen-plot/raised-beds', 'eight to ten years'),
    on('green-journal/raised-bed-myths', 'after five years'),
  ),
  contradicted('Peas may be grown in the same bed every year.', on('kitchen-plot/sowing-peas', 'five years')),
  contradicted(
    'Potatoes are best kept at 15 to 20 degrees all winter.',
    on('kitchen-plot/storing-potatoes', 'four to eight degrees'),
  ),
  contradicted('An adult ladybird eats five aphids a day.', on('kitchen-plot/ladybirds', 'up to 50 a day')),
  contradicted('A hot compost heap reaches 30 degrees.', on('green-journal/compost', '60 to 65 degrees')),
  contradicted('Plant tomatoes 20 centimetres apart.', on('green-journal/tomato-care', '60 centimetres')),
  contradicted(
    'In summer the lawn should be mown to two centimetres.',
    on('green-journal/lawn', 'five centimetres'),
  ),
  contradicted(
    'Pour-over coffee needs 90 grams of coffee per litre.',
    on('bean-notes/pour-over', '60 grams'),
    on('brew-desk/ratios', '75 grams'),
  ),
  contradicted(
    'The right place for coffee beans is the refrigerator.',
    on('bean-notes/storing-beans', 'wrong place'),
  ),
  contradicted('A cup of decaf contains 40 milligrams of caffeine.', on('bean-notes/decaf', '3 milligrams')),
  contradicted(
    'Espresso machines work with 15 bar of pressure.',
    on('bean-notes/espresso-basics', 'nine bar'),
  ),
  contradicted('Cold brew keeps for a month in the refrigerator.', on('brew-desk/cold-brew', 'for a week')),
  contradicted(
    'A bicycle chain lasts 10,000 kilometres.',
    on('slow-wheels/chain-care', '3,000 kilometres'),
    on('city-bike-guide/chains-and-belts', '5,000 kilometres'),
  ),
  contradicted(
    'A toothed belt has to be replaced after 8,000 kilometres.',
    on('city-bike-guide/chains-and-belts', '20,000 to 30,000'),
  ),
  contradicted(
    'Lowering the temperature by one degree saves 20 percent of heating energy.',
    on('warm-house/thermostats', 'six percent'),
    on('watt-watch/thermostat-test', 'ten percent'),
  ),
  contradicted(
    'A heat pump makes seven kilowatt hours of heat from one of electricity.',
    on('warm-house/heat-pump-basics', 'three to four'),
  ),
  contradicted('A freezer should be set to minus 10 degrees.', on('watt-watch/fridges', 'minus 18')),
  contradicted(
    'Two balcony panels facing south yield 2,000 kilowatt hours a year.',
    on('watt-watch/balcony-solar', '700 kilowatt hours'),
  ),
  contradicted('Bread should be cut as soon as it leaves the oven.', on('bread-bench/crust', 'two hours')),

  without('Strawberries are pollinated mainly by bumblebees.'),
  without('The first lawn mower was patented in 1830.'),
  without('Garlic is planted with the tip pointing upwards.'),
  without('Hydrangeas turn blue in acid soil.'),
  without('Brazil grows a third of the coffee of the world.'),
  without('Coffee trees flower white and smell of jasmine.'),
  without('A moka pot was invented in Italy in 1933.'),
  without('Robusta has twice the caffeine of arabica.'),
  without('The Tour de France was first held in 1903.'),
  without('Carbon frames are baked in autoclaves.'),
  without('Disc brakes need bedding in after new pads.'),
  without('Copenhagen has more bicycles than inhabitants.'),
  without('Triple glazing has a U value of 0.7.'),
  without('District heating supplies two thirds of Danish homes.'),
  without('Wood pellets must hold less than ten percent of moisture.'),
  without('LED lamps contain no mercury.'),
  without('Croissants have 27 layers of butter.'),
  without('Spelt contains gluten.'),
  without('Rice was domesticated in the Yangtze valley.'),
  without('The Mona Lisa hangs in the Louvre.'),
];
